"""Claims of Barak et al.: online SGD, Fourier gap, PolyNet."""
