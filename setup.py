"""Build the wheel: the package with the assets and the app inside, which are beside it in a checkout.

``attention.core.paths`` finds them in both places. The documentation and its pictures are left out.
"""

from pathlib import Path

from setuptools import find_packages, setup

ASSETS = [path.name for path in Path("assets").iterdir() if path.is_dir() and path.name != "screenshots"]
# Folders of files as packages: their source and the files to include. Of .streamlit only the settings: secrets.toml is
# private.
PLACES = {
    "attention._assets": ("assets", ["*", *(f"{name}/**" for name in ASSETS)]),
    "attention._app": (".", ["app.py", ".streamlit/config.toml"]),
    "attention._app.pages": ("pages", ["*.py"]),
}

setup(
    packages=[*find_packages(include=["attention", "attention.*"]), *PLACES],
    package_dir={package: folder for package, (folder, _) in PLACES.items()},
    package_data={"attention": ["py.typed"], **{package: patterns for package, (_, patterns) in PLACES.items()}},
    include_package_data=False,
    # Otherwise it would become a module of attention._app.
    script_name="setup.py",
)
