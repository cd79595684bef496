"""The study of Hao et al.: its rows, published figures, claims and page."""
