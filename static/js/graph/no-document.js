// graphology's library names what a worker does not have, for readers of files that are not used.

for (const name of ["DOMParser", "Document", "XMLSerializer"]) globalThis[name] ??= class {};
