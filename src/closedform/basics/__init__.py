"""Small things that every room uses: files, keywords, optional packages, progress, randomness."""
