"""Claims of Daniely & Malach: nets learn parity from biased inputs."""
