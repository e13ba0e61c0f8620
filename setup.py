"""What the wheel has: the package and, inside it, the assets and the app, which in a checkout are beside it.

``attention.core.paths`` finds them in both. The documentation and its pictures stay out.
"""

from pathlib import Path

from setuptools import find_packages, setup

ASSETS = [path.name for path in Path("assets").iterdir() if path.is_dir() and path.name != "screenshots"]
# Folders of files, as packages: where they come from, and which files of them are taken. Beside the app's own settings,
# Streamlit has secrets.toml, which is nobody else's.
PLACES = {
    "attention._assets": ("assets", ["*", *(f"{name}/**" for name in ASSETS)]),
    "attention._app": (".", ["app.py", ".streamlit/config.toml"]),
    "attention._app.pages": ("pages", ["*.py"]),
}

setup(
    packages=[*find_packages(include=["attention", "attention.*"]), *PLACES],
    package_dir={package: folder for package, (folder, _) in PLACES.items()},
    package_data={package: patterns for package, (_, patterns) in PLACES.items()},
    include_package_data=False,
    # Otherwise it would be taken for a module of attention._app.
    script_name="setup.py",
)
