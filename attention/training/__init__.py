"""How the project's own two models came to be: their data and the scripts that train them. No page needs it to run."""
