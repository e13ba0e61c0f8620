"""Pictures as data: pure functions from arrays to plotly figures or to the data of a component."""
