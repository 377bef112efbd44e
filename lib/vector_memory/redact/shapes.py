"""Keys that are known by their shape: one named rule for each, with the literal that gives it away.

The literals make it fast: a rule's pattern runs only where one of its literals occurs among the
text's long words. Patterns have no nested repetition, so they take linear time.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple


class Rule(NamedTuple):
    """A kind of key: its name in the placeholder, its tell-tale literals, its pattern. The whole
    match is the secret, or its group `s` where there is one."""

    name: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]


_START = r"(?<![A-Za-z0-9])"
_WORD = r"[A-Za-z0-9_-]"


def _rule(name: str, literals: str, pattern: str) -> Rule:
    return Rule(name, tuple(literals.split()), re.compile(pattern))


def _prefixed(name: str, literals: str, rest: str) -> Rule:
    """A rule for keys that start with one of the literals; what all of them share gives it away."""
    heads = "|".join(re.escape(one) for one in literals.split())
    shared = os.path.commonprefix(literals.split())
    return _rule(name, shared if len(shared) > 1 else literals, f"{_START}(?:{heads}){rest}")


RULES: tuple[Rule, ...] = (
    _rule(
        "aws-key-id",
        "AKIA ASIA AROA AIDA AGPA A3T",
        _START + r"(?:A3T[A-Z0-9]|A(?:KIA|SIA|ROA|IDA|GPA|IPA|NPA|NVA|BIA|CCA))[A-Z0-9]{16,17}(?![A-Z0-9a-z])",
    ),
    _prefixed("aws-bedrock", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/=_-]{32,}"),
    _prefixed("aws-mws", "amzn.mws.", r"[0-9a-z-]{36}"),
    _prefixed("aws-appsync", "da2-", r"[a-z0-9]{26}(?![a-z0-9])"),
    _prefixed("google-api-key", "AIza", r"[A-Za-z0-9_-]{35}"),
    _prefixed("google-oauth", "GOCSPX- ya29. 1//0", r"[A-Za-z0-9_.-]{20,}"),
    _rule("azure-secret", "Q~", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    _rule("azure-key", "JQQJ99 Az +A", _START + r"(?:[A-Za-z0-9]{40,60}JQQJ99[A-Za-z0-9]{16,40}|[A-Za-z0-9+/]{30,76}(?:AzCa|AzSe|\+A(?:CDb|EhC|StC|Ibm|MEh|Rm)[A-Za-z0-9+/]{2})[A-Za-z0-9+/]{2,12})={0,2}"),
    _prefixed("github", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,255}"),
    _prefixed("github", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    _prefixed("gitlab", "glpat- glptt- gldt- glrt- glcbt- glft- glimt- glagent- gloas- glsoat- glffct- glrtr- GR1348941", r"[A-Za-z0-9_.-]{18,}"),
    _prefixed("slack", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxc- xoxd- xapp- xoxe.", r"[A-Za-z0-9.%/+=-]{10,}"),
    _rule("slack-webhook", "hooks.slack.com", r"(?<=hooks\.slack\.com)/(?:services|workflows|triggers)/[A-Za-z0-9/+_-]{20,}"),
    _rule("stripe", "_live_ _test_ _prod_ whsec_", _START + r"(?:[srp]k_(?:live|test|prod)_|whsec_)[A-Za-z0-9+/=]{16,}"),
    _prefixed("anthropic", "sk-ant-", r"[A-Za-z0-9_-]{16,}"),
    _prefixed("openai", "sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-", r"[A-Za-z0-9_-]{20,}"),
    _rule("sk-key", "sk-", r"(?<![A-Za-z0-9_])sk-(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{20,}"),
    _prefixed("npm", "npm_", r"[A-Za-z0-9]{36}"),
    _prefixed("pypi", "pypi-AgE", r"[A-Za-z0-9_-]{40,}"),
    _prefixed("huggingface", "hf_ api_org_", r"[A-Za-z]{30,40}(?![A-Za-z])"),
    _rule("twilio", "AC SK", _START + r"(?:AC[0-9a-f]{32}|SK[0-9a-f]{32}|SK[0-9A-F]{32}|AC[0-9A-F]{32})(?![A-Za-z0-9])"),
    _rule("sendgrid", "SG.", _START + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _prefixed("mailgun", "key-", r"[0-9a-f]{32}(?![0-9a-z])"),
    _rule("mailgun", "-", r"(?<![0-9a-f-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])"),
    _rule("mailchimp", "-us", r"(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}(?!\d)"),
    _prefixed("brevo", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _prefixed("atlassian", "ATATT3 ATCTT3 ATBB BBDC- ATSTT3", r"[A-Za-z0-9_=\\%-]{24,}"),
    _prefixed("databricks", "dapi", r"[0-9a-f]{32}(?:-\d)?(?![0-9a-f])"),
    _prefixed("digitalocean", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    _prefixed("docker", "dckr_pat_ dckr_oat_ SWMTKN-1- SWMKEY-1-", r"[A-Za-z0-9_-]{20,}"),
    _prefixed("doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]{30,}"),
    _rule("dropbox", "sl.", _START + r"sl\.(?:u\.)?[A-Za-z0-9_-]{60,}"),
    _prefixed("dynatrace", "dt0c01. dt0s01. dt0s08.", r"[A-Za-z0-9.]{24,}"),
    _prefixed("facebook", "EAACEdEose0cBA EAAG EAAC EAAB EAAE EAAD", r"[A-Za-z0-9]{40,}"),
    _prefixed("instagram", "IGQVJ IGQWR IGAAN", r"[A-Za-z0-9_-]{40,}"),
    _prefixed("figma", "figd_ figo_ figor_ figu_", r"[A-Za-z0-9_-]{36,}"),
    _prefixed("grafana", "glsa_ glc_", r"[A-Za-z0-9_+/=]{32,}"),
    _prefixed("hashicorp", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{20,}"),
    _rule("terraform", ".atlasv1.", _START + r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    _prefixed("linear", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,}"),
    _prefixed("netlify", "nfp_ nfc_ nfo_ nfu_", r"[A-Za-z0-9_]{36,}"),
    _prefixed("newrelic", "NRAK- NRAL- NRII- NRIQ- NRRA- NRSP- NRJS-", r"[A-Za-z0-9_-]{16,}"),
    _prefixed("notion", "ntn_", r"[A-Za-z0-9]{40,}"),
    _prefixed("nuget", "oy2", r"[a-z0-9]{43}(?![a-z0-9])"),
    _prefixed("perplexity", "pplx-", r"[A-Za-z0-9]{32,}"),
    _prefixed("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{32,}"),
    _prefixed("posthog", "phc_ phx_ phs_ pha_", r"[A-Za-z0-9_]{36,}"),
    _prefixed("postman", "PMAK- PMAT-", r"[A-Za-z0-9-]{24,}"),
    _prefixed("rubygems", "rubygems_", r"[0-9a-f]{48}"),
    _prefixed("sentry", "sntrys_ sntryu_", r"[A-Za-z0-9_=/+-]{40,}"),
    _prefixed("shopify", "shpat_ shpca_ shppa_ shpss_ shpua_", r"[0-9a-fA-F]{32}"),
    _prefixed("sonarqube", "squ_ sqp_ sqa_", r"[0-9a-f]{40}"),
    _prefixed("square", "sq0atp- sq0csp- sq0idp-", r"[A-Za-z0-9_-]{20,}"),
    _prefixed("square", "EAAA", r"[A-Za-z0-9_-]{56,66}(?![A-Za-z0-9_-])"),
    _prefixed("supabase", "sbp_ sb_secret_ sb_publishable_", r"[A-Za-z0-9_]{20,}"),
    _prefixed("groq", "gsk_", r"[A-Za-z0-9]{40,}"),
    _prefixed("xai", "xai-", r"[A-Za-z0-9]{64,}"),
    _prefixed("together", "tgp_v1_", r"[A-Za-z0-9_-]{40,}"),
    _prefixed("tavily", "tvly-", r"[A-Za-z0-9_-]{24,}"),
    _prefixed("llama", "LLM| llx- LA-", r"[A-Za-z0-9|_-]{36,}"),
    _prefixed("vercel", "vcp_ vci_ vca_ vcr_ vck_", r"[A-Za-z0-9]{24,}"),
    _prefixed("cloudflare", "cfat_ cfut_ cfk_ v1.0-", r"[A-Za-z0-9-]{40,}"),
    _prefixed("jfrog", "AKCp cmVmdGtuO", r"[A-Za-z0-9]{50,}"),
    _prefixed("clojars", "CLOJARS_", r"[0-9a-f]{60}"),
    _prefixed("1password", "ops_eyJ A3-", r"[A-Za-z0-9_=-]{24,}"),
    _prefixed("age-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{50,}"),
    _prefixed("akamai", "akab-", r"[a-z0-9]{16}-[a-z0-9]{16}"),
    _prefixed("alibaba", "LTAI", r"[A-Za-z0-9]{12,20}(?![A-Za-z0-9])"),
    _prefixed("tencent", "AKID", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _prefixed("defined", "dnkey-", r"[A-Z0-9=_-]{70,}"),
    _prefixed("wundergraph", "cosmo_", r"[0-9a-f]{32}"),
    _prefixed("heroku", "HRKU-", r"[A-Za-z0-9_-]{30,}"),
    _prefixed("readme", "rdme_", r"[a-z0-9]{70}"),
    _prefixed("pulumi", "pul-", r"[0-9a-f]{40}"),
    _prefixed("picatic", "sk_live_", r"[0-9a-z]{32}"),
    _rule("braintree", "access_token$production$ access_token$sandbox$", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    _rule("discord", ".", r"(?<![A-Za-z0-9_-])[MNO][A-Za-z\d_-]{23,27}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,40}(?![A-Za-z\d_-])"),
    _rule("discord-webhook", "/api/webhooks/", r"(?<=/api/webhooks)/\d{17,20}/[A-Za-z0-9_-]{60,70}"),
    _rule("teams-webhook", "/IncomingWebhook/", r"(?<=/IncomingWebhook)/[0-9a-z]{32}/[0-9a-f-]{36}"),
    _rule("telegram", ":AA", r"(?<![A-Za-z0-9])\d{8,10}:AA[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])"),
    _rule("twitter", "AAAAAAAAAA", r"(?<![A-Za-z0-9%+/])A{20,24}[A-Za-z0-9%]{30,}"),
    _rule("salesforce", "00D 3MVG", _START + r"(?:00D[A-Za-z0-9]{12,15}![A-Za-z0-9_.]{80,120}|3MVG[A-Za-z0-9_.-]{64,92})"),
    _rule("nkey", "SA SU SO SN SC", _START + r"S[ACNOU][A-Z2-7]{56}(?![A-Za-z0-9])"),
    _rule("jwt", "eyJ", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{6,}){1,4}\.?"),
    _rule("grafana", "eyJrIjoi", r"(?<![A-Za-z0-9_-])eyJrIjoi[A-Za-z0-9_=-]{40,}"),
    _rule("password-hash", "$2 $6$ $5$ $argon2 $apr1$", r"\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|[156]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}|apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|argon2i?d?\$v=\d{1,3}\$[a-z0-9=,]{1,40}\$[A-Za-z0-9+/]{8,64}\$[A-Za-z0-9+/]{16,128})"),
    _rule("encoded-private-key", "LS0tLS1CRUdJTi", _START + r"LS0tLS1CRUdJTi[A-Za-z0-9+/=_-]{20,}"),
)  # fmt: skip

SHORTEST = 16
_RUN = re.compile(r"[A-Za-z0-9+/_=.:~|$%!\\-]{16,}")
_DIGIT = re.compile("[0-9]")
_LITERALS = tuple((literal, rule) for rule in RULES for literal in rule.literals)


def redact_shapes(text: str) -> tuple[str, int]:
    """Replace keys of known shape by `[redacted:<rule>]`; return the text and how many."""
    runs = _long_runs(text)
    if not runs:
        return text, 0
    suspects = dict.fromkeys(rule for literal, rule in _LITERALS if literal in runs)
    total = 0
    for rule in suspects:
        if rule.pattern.search(runs):
            text, count = rule.pattern.subn(f"[redacted:{rule.name}]", text)
            total += count
    return text, total


def _long_runs(text: str) -> str:
    """Return the stretches that are long enough to be keys and no mere lower-case words, one a
    line: a small part of most texts, so that the rules are tried on little."""
    words = "\n".join([word for word in text.split() if len(word) >= SHORTEST])
    return "\n".join(
        [run for run in _RUN.findall(words) if not run.islower() or _DIGIT.search(run)]
    )
