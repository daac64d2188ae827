"""Claims of Kou, Chen, Gu & Kakade: sign descent with z^k."""
