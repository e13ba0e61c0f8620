"""How the project's own two models were made: their data and the scripts that train them. No page needs this."""
