"""Triton takes the AMD driver when torch was built for HIP."""
hip = "6.5"
cuda = None
