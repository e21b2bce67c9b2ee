"""`manage.py tenant move … --switch "python deploy/cells/switch.py FOLDER"`: sends a tenant's keys
and host to another cell, in the HAProxy that runs and in the maps that it starts with.

Reads lines "MAP KEY CELL" (map: keys or slugs); FOLDER has haproxy.sock and the maps.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path


def tell_haproxy(folder: Path, command: str) -> str:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(folder / "haproxy.sock"))
        line.sendall(f"{command}\n".encode())
        return line.recv(65536).decode().strip()


def main() -> None:
    folder = Path(sys.argv[1])
    for told in sys.stdin.read().splitlines():
        name, key, cell = told.split()
        file = folder / f"{name}.map"
        kept = [line for line in file.read_text().splitlines() if line.split()[:1] != [key]]
        file.write_text("\n".join([*kept, f"{key} {cell}", ""]))
        tell_haproxy(folder, f"del map {file} {key}")
        if refused := tell_haproxy(folder, f"add map {file} {key} {cell}"):
            sys.exit(refused)


if __name__ == "__main__":
    main()
