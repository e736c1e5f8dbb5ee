"""How pages become text: Jinja templates in which everything is escaped unless a template says otherwise.

No template does. A variable that a template uses and that is not passed is an error, not an empty string.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from memorata import __version__
from memorata.web.forms import joined

PAGES: Final = (
    ("/", "Search"),
    ("/memories", "Browse"),
    ("/graph", "Graph"),
    ("/communities", "Communities"),
    ("/timeline", "Timeline"),
    ("/map", "Map"),
    ("/review", "Review"),
    ("/lab", "Lab"),
    ("/experiments", "Experiments"),
    ("/settings", "Settings"),
)
"""What the top of every page leads to."""
_EXCERPT_LENGTH: Final = 280


def render(template: str, variables: Mapping[str, Any]) -> str:
    """Return a template filled in."""
    return environment().get_template(template).render(variables)


@cache
def environment() -> Environment:
    """Return the templates, with the filters they use."""
    jinja = Environment(
        loader=PackageLoader("memorata.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {
        "day": day,
        "moment": moment,
        "number": number,
        "excerpt": excerpt,
        "counted": counted,
        "embedder_name": embedder_name,
        "number_or_dash": number_or_dash,
        "joined": joined,
        "share": share,
    }
    jinja.globals |= {"version": __version__, "pages": PAGES, "one_day": timedelta(days=1)}
    return jinja


def day(value: date) -> str:
    """Return a day for people."""
    return f"{value.day} {value:%b} {value.year:04}"


def moment(value: datetime) -> str:
    """Return a time for people, to the minute."""
    return f"{day(value)}, {value:%H:%M} UTC"


def number(value: float, digits: int = 3) -> str:
    """Return a number with as many digits after the point, always."""
    return f"{value:,.{digits}f}"


def number_or_dash(value: float, digits: int) -> str:
    """Return a number, or a dash where there is none."""
    return "–" if math.isnan(value) else number(value, digits)


def share(value: float) -> str:
    """Return a share as a percentage, or a dash where there is none."""
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"


def excerpt(text: str, length: int = _EXCERPT_LENGTH) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length and len(text) <= 4 * length else line[:length].rstrip(" ,.;:") + "…"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def embedder_name(name: str) -> str:
    """Return an embedder's name without the digest that tells its versions apart."""
    return name.partition("@")[0]
