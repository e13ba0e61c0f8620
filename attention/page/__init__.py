"""Pages as pure functions: a link becomes a view, and a view with its runs becomes blocks."""
