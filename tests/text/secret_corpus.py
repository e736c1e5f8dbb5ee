"""Made-up secrets of many kinds in sentences, and harmless texts that look a little like them.

Every secret is drawn by a seeded generator and put together here, so that no scanner finds one in this file,
and none has ever opened anything. Each kind comes in several sentences; a sample is the sentence, the secret
in it, and its kind.
"""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator

ALPHA = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
SENTENCES = (
    "{}",
    "The key is {}, please keep it.",
    'export TOKEN="{}"',
    "I put {} into the settings yesterday.",
    "config:\n  token: {}\n  region: eu",
)
WORDS = (
    "tulip",
    "harbour",
    "copper",
    "violin",
    "saffron",
    "meadow",
    "lantern",
    "walnut",
    "pepper",
    "granite",
)

Draw = Callable[[random.Random], str]


def drawn(alphabet: str, length: int) -> Draw:
    """Return what draws so many characters, with a letter and a digit among them."""
    return lambda chance: "a7" + "".join(chance.choices(alphabet, k=length - 2)) if length > 2 else "a7"


def behind(*prefixes: str, alphabet: str = ALPHA, length: int = 40, end: str = "") -> Draw:
    """Return what draws a token behind one of its maker's prefixes."""
    return lambda chance: chance.choice(prefixes) + drawn(alphabet, length)(chance) + end


def _card(chance: random.Random) -> str:
    digits = [4, *(chance.randrange(10) for _ in range(14))]
    doubled = sum(sum(divmod(2 * each, 10)) if at % 2 == 0 else each for at, each in enumerate(digits))
    return "".join(map(str, [*digits, -doubled % 10]))


def _grouped(separators: str) -> Draw:
    def draw(chance: random.Random) -> str:
        digits, separator = _card(chance), chance.choice(separators)
        return separator.join(digits[at : at + 4] for at in range(0, 16, 4))

    return draw


def _oddly_grouped(chance: random.Random) -> str:
    digits, parts = _card(chance), []
    while digits:
        size = chance.choice((2, 3, 4, 5))
        parts.append(digits[:size])
        digits = digits[size:]
    return chance.choice(("  ", " ", " ", "–", ".")).join(parts)


def _block(name: str) -> Draw:
    def draw(chance: random.Random) -> str:
        body = "".join(chance.choices(ALPHA + "+/", k=64))
        return f"-----BEGIN {name}-----\n{body}\n{body}\n-----END {name}-----"

    return draw


def _json_web_token(chance: random.Random) -> str:
    return (
        ".".join("eyJ" + drawn(ALPHA, length)(chance) for length in (20, 40)) + "." + drawn(ALPHA, 43)(chance)
    )


def _password(chance: random.Random) -> str:
    word = chance.choice(WORDS)
    return chance.choice(
        (
            f"{word}{chance.randrange(10, 9999)}",
            f"{word.capitalize()}!{chance.choice(WORDS)}",
            f"{word[:3]}${word[3:]}{chance.randrange(100)}",
            "".join(chance.choices(ALPHA + "!#%&*+-?", k=12)) + "7",
        )
    )


TOKENS: dict[str, Draw] = {
    "memorata key": lambda chance: "rcl" + f"_{drawn(HEX, 16)(chance)}_{drawn(ALPHA + '_-', 43)(chance)}",
    "openai": behind("sk" + "-", "sk" + "-proj-", length=48),
    "anthropic": behind("sk" + "-ant-api03-", length=90),
    "stripe": behind("sk" + "_live_", "rk" + "_live_", "sk" + "_test_", length=24),
    "stripe webhook": behind("wh" + "sec_", length=32),
    "square": behind("sq0" + "atp-", "sq0" + "csp-", length=43),
    "github": behind("gh" + "p_", "gh" + "o_", "gh" + "s_", length=36),
    "github fine-grained": behind("github" + "_pat_", length=82),
    "gitlab": behind("gl" + "pat-", "gl" + "dt-", length=20),
    "atlassian": behind("AT" + "ATT3", length=180),
    "bitbucket": behind("AT" + "BB", length=32),
    "slack": behind("xox" + "b-", "xox" + "p-", length=50),
    "slack app": behind("xapp" + "-1-", length=60),
    "discord": lambda c: "M" + ".".join(drawn(ALPHA, size)(c) for size in (23, 6, 38)),
    "npm": behind("npm" + "_", length=36),
    "pypi": behind("pypi" + "-", length=120),
    "rubygems": behind("rubygems" + "_", alphabet=HEX, length=48),
    "docker hub": behind("dckr" + "_pat_", length=27),
    "hugging face": behind("hf" + "_", length=34),
    "google api": behind("AI" + "za", length=35),
    "google oauth": behind("ya29" + ".", length=60),
    "google client": behind("GOC" + "SPX-", length=28),
    "aws key id": lambda c: (
        c.choice(("AK" + "IA", "AS" + "IA")) + "7" + "".join(c.choices("ABCDEFGH234567", k=15))
    ),
    "digitalocean": behind("dop" + "_v1_", alphabet=HEX, length=64),
    "heroku": behind("HR" + "KU-", length=36),
    "netlify": behind("nf" + "p_", length=36),
    "supabase": behind("sb" + "p_", alphabet=HEX, length=40),
    "sendgrid": lambda c: "S" + f"G.{drawn(ALPHA, 22)(c)}.{drawn(ALPHA, 43)(c)}",
    "telegram": lambda c: f"{c.randrange(10**9, 10**10)}:A" + f"A{drawn(ALPHA, 33)(c)}",
    "twilio": behind("S" + "K", alphabet=HEX, length=32),
    "mailgun": behind("key" + "-", alphabet=HEX, length=32),
    "mailchimp": lambda c: drawn(HEX, 32)(c) + f"-us{c.randrange(1, 22)}",
    "shopify": behind("shp" + "at_", "shp" + "ss_", alphabet=HEX, length=32),
    "databricks": behind("da" + "pi", alphabet=HEX, length=32),
    "linear": behind("lin" + "_api_", length=40),
    "notion": behind("nt" + "n_", length=46),
    "airtable": lambda c: "pa" + f"t{drawn(ALPHA, 14)(c)}.{drawn(HEX, 64)(c)}",
    "figma": behind("fig" + "d_", length=40),
    "vault": behind("hv" + "s.", length=90),
    "terraform": lambda c: drawn(ALPHA, 14)(c) + ".atlas" + f"v1.{drawn(ALPHA, 67)(c)}",
    "grafana": behind("gl" + "sa_", "gl" + "c_", length=41),
    "new relic": lambda c: "NR" + "AK-A7" + "".join(c.choices(string.ascii_uppercase + string.digits, k=25)),
    "sentry": behind("sntry" + "s_", "sntry" + "u_", length=64),
    "postman": lambda c: "PM" + f"AK-{drawn(HEX, 24)(c)}-{drawn(HEX, 34)(c)}",
    "doppler": behind("dp" + ".pt.", length=43),
    "groq": behind("gs" + "k_", length=52),
    "replicate": behind("r" + "8_", length=37),
    "perplexity": behind("pp" + "lx-", length=48),
    "pinecone": behind("pc" + "sk_", length=70),
    "json web token": _json_web_token,
    "private key": _block("PRIVATE KEY"),
    "ssh key": _block("OPENSSH PRIVATE KEY"),
    "pgp key": _block("PGP PRIVATE KEY BLOCK"),
    "card": _card,
    "card in groups": _grouped(" -"),
}
SPOKEN: dict[str, tuple[Draw, tuple[str, ...]]] = {
    "password with a colon": (
        _password,
        ("password: {}", "Passwort: {}", "DB_PASSWORD={}", "contraseña: {}", '"password": "{}"', "pwd={};"),
    ),
    "password in words": (
        _password,
        (
            "My password is {}.",
            "the wifi password is {}, by the way",
            "My password for the bank is {} and nobody knows it.",
            "Das Passwort für den Router lautet {}",
            "I changed it, the password is now {}.",
            "mon mot de passe est {}",
        ),
    ),
    "password that is a word": (
        lambda chance: chance.choice(WORDS),
        (
            "My password is {}.",
            "the wifi password is {}",
            "My netflix password is {}, and yours?",
            "password: {}",
        ),
    ),
    "password beside a user": (
        lambda chance: f"{chance.choice(WORDS)}{chance.randrange(100, 999)}",
        (
            "Log in as anna with password {}.",
            "user anna password {}",
            "username bert, pw {} on the old server",
        ),
    ),
    "pin": (
        lambda chance: f"{chance.randrange(1000, 9999)}",
        (
            "My PIN is {}.",
            "PIN: {}",
            "the PIN for my bank card is {}",
            "my card pin is {}",
            "Meine PIN lautet {}.",
        ),
    ),
    "card code": (
        lambda chance: f"{chance.randrange(100, 999)}",
        ("CVV {}", "the CVC is {}", "cvv: {}", "CVV2={}"),
    ),
    "one-time code": (
        lambda chance: f"{chance.randrange(100_000, 999_999)}",
        ("Your verification code is {}.", "OTP: {}", "The one-time code is {}", "2FA code {} came by SMS"),
    ),
    "door code": (
        lambda chance: f"{chance.randrange(1000, 99_999)}",
        (
            "The door code is {}.",
            "alarm code: {}",
            "the gate code for the garage is {}",
            "safe combination is {}",
        ),
    ),
    "basic authentication": (
        lambda chance: base64.b64encode(f"anna:{_password(chance)}".encode()).decode(),
        (
            "Authorization: Basic {}",
            "authorization: basic {}",
            'curl -H "Authorization: Basic {}" https://x.example',
        ),
    ),
    "user of curl": (
        lambda chance: drawn(ALPHA, 12)(chance),
        ("curl -u anna:{} https://x.example", "curl -s --user 'anna:{}' https://x.example/v1"),
    ),
    "password in an address": (
        lambda chance: drawn(ALPHA, 12)(chance),
        (
            "postgres://anna:{}@db.example/x",
            "redis://:{}@cache.example:6379",
            "https://anna:{}@git.example/r.git",
        ),
    ),
    "netrc": (lambda chance: drawn(ALPHA, 12)(chance), ("machine git.example login anna password {}",)),
    "bearer": (
        lambda chance: drawn(ALPHA, 40)(chance),
        ("Authorization: Bearer {}", "curl -H 'Authorization: Bearer {}'", "bearer {}"),
    ),
    "labelled key": (
        lambda chance: drawn(ALPHA + "+/", 40)(chance),
        (
            "api_key = {}",
            "aws_secret_access_key={}",
            "AccountKey={}",
            "client_secret: {}",
            "refresh_token={}",
        ),
    ),
    "webhook": (
        lambda chance: "T0" + drawn(ALPHA, 40)(chance),
        ("https://hooks.slack.com/services/{}", "https://discord.com/api/webhooks/{}"),
    ),
    "recovery phrase": (
        lambda chance: " ".join(chance.choices([word for word in WORDS if len(word) < 9], k=12)),
        ("seed phrase: {}", "My recovery phrase is {}", "mnemonic: {}"),
    ),
    "card with odd spaces": (
        _oddly_grouped,
        ("my card number is {}", "Visa {} until 09/29", "credit card: {}", "Karte {}"),
    ),
}


def secret_samples(each: int = 5) -> Iterator[tuple[str, str, str]]:
    """Yield sentences with a secret, the secret, and its kind; `each` of every kind at least."""
    chance = random.Random(20261117)
    for kind, draw in TOKENS.items():
        for number in range(each):
            secret = draw(chance)
            yield SENTENCES[number % len(SENTENCES)].format(secret), secret, kind
    for kind, (draw, sentences) in SPOKEN.items():
        for number in range(max(each, len(sentences))):
            secret = draw(chance)
            yield sentences[number % len(sentences)].format(secret), secret, kind


HARMLESS: tuple[tuple[str, ...], ...] = (
    # People on passwords, keys, codes and pins.
    (
        "The password is {adjective}.", "My password is {adjective} again.", "I forgot my password for {thing}.",
        "Is the password {adjective}?", "Her password was {adjective} and she had to {verb} it.",
        "Please {verb} your password before {day}.", "The password policy asks for {number} characters.",
        "Never write your password on {thing}.", "password: required", "Password: ********",
        "He asked for the password to {thing}, and I said no.", "Passwords are stored as salted hashes.",
        "The password reset takes {number} minutes.", "password = os.environ['DB_PASSWORD']",
        "password: ${{DB_PASSWORD}}", "PASSWORD=<your password>", "api_key = settings.api_key",
        "api key: ask {name} for one", "client_secret: {{{{ vault.secret }}}}", "The secret: {adjective} butter.",
        "The secret is to {verb} it on {day}.", "Their access token: see {thing}.",
        "We lost the key to {thing}.", "The api key is {adjective}.",
        "Das Passwort ist falsch.", "Mein Passwort ist abgelaufen.", "La contraseña es incorrecta.",
    ),
    (
        "Pin {number} of the connector is ground.", "I bowled and left the {number} pin.",
        "Put a pin on the map at {number} Main Street.", "The pin is {number} mm long.",
        "She wore a pin from {number}.", "We met at the gate of {thing} at {number}.",
        "The door is {number} cm wide.", "The postal code is {long}.", "Error code {number} came back.",
        "The area code is {number}.", "The dress code is {adjective}.", "Code review took {number} minutes.",
        "The discount code was gone on {day}.", "Room {number}, second door on the left.",
        "The exit code is {number}.", "HTTP status code {number} means no.",
    ),
    # Numbers.
    (
        "Order {long} has left on {day}.", "Invoice {long}-{number}", "Call +49 40 {long}.",
        "+1 415 555 {four}", "ISBN 978-0-306-{long}-7", "The parcel {long}{long} is late.",
        "Timestamp 17{long}0000.", "IBAN DE89 3704 0044 {four} 0130 00", "Flight LH{four} at {number}:30",
        "It weighs {number}.{four} kg.", "The population is {long}.", "Latitude 53.{long}, longitude 9.{long}",
        "My card is from {number} and has a picture of {thing}.", "Card {number} of the deck",
        "The credit was {long} euros.", "tracking 1Z{long}A{long}", "version {number}.{four}.{number}",
        "{four}-11-17T23:{number}:00Z", "port {four}", "It cost {long}.99", "Model XR-{four}-{long}",
        "Visa applications take {number} days; mine was number {long}.", "VIN WVWZZZ1JZ3W{long}",
    ),
    # Identifiers and digests.
    (
        "{uuid}", "commit {hex40}", "sha256:{hex64}", "md5 {hex32}", "request_id={uuid}", "trace {hex32}",
        "image registry.example/app@sha256:{hex64}", "git checkout {hex7}", "etag W/\"{hex32}\"",
        "session {uuid} has ended", "node_modules/.cache/{hex40}.js", "data:image/png;base64,iVBORw0KGgo{name}",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{name} anna@laptop", "-----BEGIN CERTIFICATE-----\nMIIB{name}\n"
        "-----END CERTIFICATE-----", "arn:aws:iam::{long}00000:role/{name}", "did:example:{hex32}",
        "0x{hex40}", "urn:uuid:{uuid}", "build-{hex7}-{number}", "color #{hex6}", "mac 00:1b:44:11:3a:b7",
    ),
    # Words with the beginnings of tokens.
    (
        "sk-learn fits {number} models", "risk-management-and-compliance-handbook-{number}", "ghp is a band",
        "npm_config_cache=/tmp/{name}", "hf_hub_download of {thing}", "task-{number}-of-the-sprint",
        "pk_test and pk_live are prefixes", "xoxo from {name}", "SG is Singapore", "key-value stores since {number}",
        "The bearer of good news came on {day}.", "Basic authentication is {adjective}.",
        "https://example.org:8080/{name}?q={number}", "mailto:{name}@example.org", "ftp://example.org/{thing}",
        "curl -u is for users", "machine learning login page", "patience.is.a.virtue", "dapi is no word",
        "glc_ means nothing", "AKIA", "a seed phrase has twelve words", "recovery words help with {thing}",
        "mem_ is how keys begin", "eyJ is how tokens begin", "AIza", "lin_api_ docs", "http://[::1]:{four}/",
        "user:group {number}:{number}", "git@github.com:{name}/repo.git", "aspect ratio 16:9 at {number}",
    ),
)  # fmt: skip
ADJECTIVES = (
    "weak",
    "strong",
    "wrong",
    "expired",
    "required",
    "secret",
    "long",
    "different",
    "unknown",
    "fine",
)
VERBS = ("change", "rotate", "remember", "write", "read", "replace", "check", "share")
THINGS = (
    "the shed",
    "a napkin",
    "the router",
    "the wiki",
    "the old laptop",
    "my bank",
    "the archive",
    "Paris",
)
NAMES = ("Anna", "Bert", "Clara", "Tomasz", "Yuki", "Priya")
DAYS = ("Monday", "Friday", "the weekend", "New Year's Eve")


def harmless_samples(each: int = 8) -> Iterator[str]:
    """Yield texts in which nothing is to be taken out: `each` of every sentence."""
    chance = random.Random(19700101)

    def hexadecimal(length: int) -> str:
        return "".join(chance.choices(HEX, k=length))

    for sentences in HARMLESS:
        for sentence in sentences:
            for _ in range(each):
                long = str(chance.randrange(10**4, 10**5))
                yield sentence.format(
                    adjective=chance.choice(ADJECTIVES), verb=chance.choice(VERBS), thing=chance.choice(THINGS),
                    name=chance.choice(NAMES), day=chance.choice(DAYS), number=chance.randrange(2, 99),
                    four=chance.randrange(1_000, 9_999), long=long, hex6=hexadecimal(6), hex7=hexadecimal(7),
                    hex32=hexadecimal(32), hex40=hexadecimal(40), hex64=hexadecimal(64),
                    uuid="-".join(hexadecimal(size) for size in (8, 4, 4, 4, 12)),
                )  # fmt: skip
