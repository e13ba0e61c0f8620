"""What a page shows as a Jupyter notebook, which runs without the app: by hand in NumPy, or with transformers."""
