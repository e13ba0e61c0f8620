"""A page as a Jupyter notebook that runs without the app: by hand in NumPy, or with transformers."""
