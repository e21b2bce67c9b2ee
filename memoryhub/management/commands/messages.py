"""`manage.py messages`: keep the translations in step with what the pages say."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import to_locale
from django.utils.translation.template import templatize

from memoryhub.console.frame.text import vocabulary

try:
    from babel.messages.catalog import Catalog
    from babel.messages.extract import extract
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po, write_po
except ImportError as missing:
    raise CommandError("Only developers gather messages: it needs babel") from missing

FOLDER = settings.BASE_DIR / "memoryhub" / "locale"
_PACKAGES = ("memoryhub", "notes", "personas", "api")
_KEYWORDS: dict[str, Any] = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop"), (1,)),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}


class Command(BaseCommand):
    help = "Gather what the pages say for translation, and compile the translations."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="only say whether all is there")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        gathered = gather_messages()
        for path in list_catalogs():
            catalog = update_catalog(path, gathered)
            problems = list(find_problems(catalog))
            files = {path: serialize_catalog(catalog)}
            files[path.with_suffix(".mo")] = compile_catalog(catalog)
            if not check:
                for file, content in files.items():
                    file.write_bytes(content)
            elif any(file.read_bytes() != content for file, content in files.items()):
                problems.append("not in step: run make messages")
            for problem in problems:
                self.stderr.write(f"{path.parent.parent.name}: {problem}")
            self.stdout.write(f"{path.parent.parent.name}: {len(catalog)} messages")
            if check and problems:
                raise CommandError(f"{len(problems)} to be mended")


def list_catalogs() -> list[Path]:
    """The files of translations, one for each language but the one the pages are written in."""
    languages = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
    return [FOLDER / to_locale(code) / "LC_MESSAGES" / "django.po" for code in languages]


def gather_messages() -> Catalog:
    """Every message of the program's modules and templates."""
    found = Catalog()
    for path, source in _read_sources():
        name = path.relative_to(settings.BASE_DIR).as_posix()
        for _, message, _, context in extract("python", BytesIO(source), _KEYWORDS):
            found.add(message, locations=[(name, 0)], context=context)
    for name, message, context in vocabulary.list_table_words():
        found.add(message, locations=[(name, 0)], context=context)
    return found


def _read_sources() -> Iterator[tuple[Path, bytes]]:
    for package in _PACKAGES:
        for path in sorted((settings.BASE_DIR / package).rglob("*.py")):
            yield path, path.read_bytes()
    folders = settings.TEMPLATE_DIRS
    suffixes = (".html", ".txt")  # pages, and mail
    found = (path for folder in folders for path in folder.rglob("*"))
    for path in sorted(path for path in found if path.suffix in suffixes):
        # As Python, whose lines must not be indented by what the template holds before them.
        lines = templatize(path.read_text(encoding="utf-8"), origin=path.name).splitlines()
        yield path, "\n".join(line.lstrip() for line in lines).encode()


def update_catalog(path: Path, gathered: Catalog) -> Catalog:
    """The translations of `path` for the messages there are now; gone ones are left out."""
    with path.open("rb") as file:
        catalog = read_po(file, locale=path.parent.parent.name)
    catalog.update(gathered, no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    return catalog


def find_problems(catalog: Catalog) -> Iterator[str]:
    """What is not translated, and translations whose placeholders are not the message's."""
    for message in catalog:
        # One form, or one for each plural of the language.
        forms = message.string if isinstance(message.string, tuple) else (message.string,)
        if message.id and not all(forms):
            yield f"not translated: {message.id!r}"
        elif message.id:
            yield from (f"{error}: {message.id!r}" for error in message.check(catalog))


def serialize_catalog(catalog: Catalog) -> bytes:
    file = BytesIO()
    write_po(file, catalog, width=100, sort_output=True, include_lineno=False)
    return file.getvalue()


def compile_catalog(catalog: Catalog) -> bytes:
    file = BytesIO()
    write_mo(file, catalog)
    return file.getvalue()
