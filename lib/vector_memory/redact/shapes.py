"""Keys that are known by their shape: one named rule for each. Patterns have no nested repetition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from vector_memory.redact.automaton import Automaton, Meter, Rule
from vector_memory.redact.spans import Span

_START = r"(?<![A-Za-z0-9])"


_FIRST_CLASS = re.compile(r"\[[^\]]+\]")


def _rule(name: str, pattern: str, clue: str = "", back: int = 0) -> Rule:
    return Rule(name, pattern, clue=clue, back=back)


def _prefixed(name: str, heads: str, rest: str) -> Rule:
    """A rule for keys that start with one of the heads: it and a few characters are the clue. A key that
    the text's end cuts is one, too."""
    either = "|".join(re.escape(one) for one in heads.split())
    first = _FIRST_CLASS.search(rest)
    if not first or not rest.startswith("["):
        return _rule(name, f"{_START}(?:{either}){rest}")
    clue = f"(?:^|[^A-Za-z0-9])(?:{either}){first[0]}{{8}}"
    return _rule(name, f"{_START}(?:{either})(?:{rest}|{first[0]}{{16,}}\\Z)", clue)


RULES: tuple[Rule, ...] = (
    _rule("aws-key-id", _START + r"(?:A3T[A-Z0-9]|A(?:KIA|SIA|ROA|IDA|GPA|IPA|NPA|NVA|BIA|CCA))[A-Z0-9]{16,17}(?![A-Z0-9a-z])", r"(?:^|[^A-Za-z0-9])A(?:3T[A-Z0-9]|KIA|SIA|ROA|IDA|GPA|IPA|NPA|NVA|BIA|CCA)[A-Z0-9]{8}"),
    _prefixed("aws-bedrock", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/=_-]{32,}"),
    _prefixed("aws-mws", "amzn.mws.", r"[0-9a-z-]{36}"),
    _prefixed("aws-appsync", "da2-", r"[a-z0-9]{26}(?![a-z0-9])"),
    _prefixed("google-api-key", "AIza", r"[A-Za-z0-9_-]{35}"),
    _prefixed("google-oauth", "GOCSPX- ya29. 1//0", r"[A-Za-z0-9_.-]{20,}"),
    _rule("azure-secret", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}", r"[0-9]Q~[A-Za-z0-9_~.-]{8}", 8),
    _rule("azure-key", _START + r"(?:[A-Za-z0-9]{40,60}JQQJ99[A-Za-z0-9]{16,40}|[A-Za-z0-9+/]{30,76}(?:AzCa|AzSe|\+A(?:CDb|EhC|StC|Ibm|MEh|Rm)[A-Za-z0-9+/]{2})[A-Za-z0-9+/]{2,12})={0,2}", r"(?:JQQJ99[A-Za-z0-9]{8}|[A-Za-z0-9+/](?:AzCa|AzSe|\+A(?:CDb|EhC|StC|Ibm|MEh|Rm))[A-Za-z0-9+/]{4})", 100),
    _prefixed("github", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,255}"),
    _prefixed("github", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    _prefixed("gitlab", "glpat- glptt- gldt- glrt- glcbt- glft- glimt- glagent- gloas- glsoat- glffct- glrtr- glwt- GR1348941", r"[A-Za-z0-9_.-]{18,}"),
    _prefixed("slack", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxc- xoxd- xapp- xoxe.", r"[A-Za-z0-9.%/+=-]{10,}"),
    _rule("slack-webhook", r"hooks\.slack\.com(?P<s>/(?:services|workflows|triggers)/[A-Za-z0-9/+_-]{20,})", r"hooks\.slack\.com/"),
    _rule("stripe", _START + r"(?:[srp]k_(?:live|test|prod)_|whsec_)[A-Za-z0-9+/=]{16,}", r"(?:[srp]k_(?:live|test|prod)_|whsec_)[A-Za-z0-9+/=]{8}", 2),
    _prefixed("anthropic", "sk-ant-", r"[A-Za-z0-9_-]{16,}"),
    _prefixed("openai", "sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-", r"[A-Za-z0-9_-]{20,}"),
    _rule("sk-key", r"(?<![A-Za-z0-9_])sk-(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{20,}", r"(?:^|[^A-Za-z0-9_])sk-[A-Za-z0-9]{20}"),
    _prefixed("npm", "npm_", r"[A-Za-z0-9]{36}"),
    _prefixed("pypi", "pypi-AgE", r"[A-Za-z0-9_-]{40,}"),
    _prefixed("huggingface", "hf_ api_org_", r"[A-Za-z]{30,40}(?![A-Za-z])"),
    _rule("twilio", _START + r"(?:AC[0-9a-f]{32}|SK[0-9a-f]{32}|SK[0-9A-F]{32}|AC[0-9A-F]{32})(?![A-Za-z0-9])", r"(?:^|[^A-Za-z0-9])(?:AC|SK)[0-9A-Fa-f]{16}"),
    _rule("sendgrid", _START + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}", r"SG\.[A-Za-z0-9_-]{8}", 2),
    _prefixed("mailgun", "key-", r"[0-9a-f]{32}(?![0-9a-z])"),
    _rule("mailgun", r"(?<![0-9a-f-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])", r"[0-9a-f]-[0-9a-f]{8}-[0-9a-f]{8}", 48),
    _rule("mailchimp", r"(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}(?!\d)", r"[0-9a-f]{8}-us[0-9]", 40),
    _prefixed("brevo", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _prefixed("atlassian", "ATATT3 ATCTT3 ATBB BBDC- ATSTT3", r"[A-Za-z0-9_=\\%-]{24,}"),
    _prefixed("databricks", "dapi", r"[0-9a-f]{32}(?:-\d)?(?![0-9a-f])"),
    _prefixed("digitalocean", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    _prefixed("docker", "dckr_pat_ dckr_oat_ SWMTKN-1- SWMKEY-1-", r"[A-Za-z0-9_-]{20,}"),
    _prefixed("doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]{30,}"),
    _rule("dropbox", _START + r"sl\.(?:u\.)?[A-Za-z0-9_-]{60,}", r"(?:^|[^A-Za-z0-9])sl\.(?:u\.)?[A-Za-z0-9_-]{16}"),
    _prefixed("dynatrace", "dt0c01. dt0s01. dt0s08.", r"[A-Za-z0-9.]{24,}"),
    _prefixed("facebook", "EAACEdEose0cBA EAAG EAAC EAAB EAAE EAAD", r"[A-Za-z0-9]{40,}"),
    _prefixed("instagram", "IGQVJ IGQWR IGAAN", r"[A-Za-z0-9_-]{40,}"),
    _prefixed("figma", "figd_ figo_ figor_ figu_", r"[A-Za-z0-9_-]{36,}"),
    _prefixed("grafana", "glsa_ glc_", r"[A-Za-z0-9_+/=]{32,}"),
    _prefixed("hashicorp", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{20,}"),
    _rule("terraform", _START + r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}", r"\.atlasv1\.", 16),
    _prefixed("linear", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,}"),
    _prefixed("netlify", "nfp_ nfc_ nfo_ nfu_", r"[A-Za-z0-9_]{36,}"),
    _prefixed("newrelic", "NRAK- NRAL- NRII- NRIQ- NRRA- NRSP- NRJS- NRBR- NRAA-", r"[A-Za-z0-9_-]{16,}"),
    _prefixed("notion", "ntn_", r"[A-Za-z0-9]{40,}"),
    _prefixed("nuget", "oy2", r"[a-z0-9]{43}(?![a-z0-9])"),
    _prefixed("perplexity", "pplx-", r"[A-Za-z0-9]{32,}"),
    _prefixed("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{32,}"),
    _prefixed("posthog", "phc_ phx_ phs_ pha_ phr_", r"[A-Za-z0-9_]{36,}"),
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
    _rule("braintree", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    _rule("discord", r"(?<![A-Za-z0-9_-])[MNO][A-Za-z\d_-]{23,27}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,40}(?![A-Za-z\d_-])", r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{20}", 40),
    _rule("discord-webhook", r"/api/webhooks(?P<s>/\d{17,20}/[A-Za-z0-9_-]{60,70})", r"/api/webhooks/[0-9]{8}"),
    _rule("teams-webhook", r"/IncomingWebhook(?P<s>/[0-9a-z]{32}/[0-9a-f-]{36})", r"/IncomingWebhook/"),
    _rule("telegram", r"(?<![A-Za-z0-9])\d{8,10}:AA[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])", r"[0-9]{8}:AA[A-Za-z0-9_-]{8}", 4),
    _rule("twitter", r"(?<![A-Za-z0-9%+/])A{20,24}[A-Za-z0-9%]{30,}", r"(?:^|[^A-Za-z0-9%+/])A{20}"),
    _rule("salesforce", _START + r"(?:00D[A-Za-z0-9]{12,15}![A-Za-z0-9_.]{80,120}|3MVG[A-Za-z0-9_.-]{64,92})", r"(?:^|[^A-Za-z0-9])(?:00D[A-Za-z0-9]{12,15}!|3MVG[A-Za-z0-9_.-]{16})"),
    _rule("nkey", _START + r"S[ACNOU][A-Z2-7]{56}(?![A-Za-z0-9])", r"(?:^|[^A-Za-z0-9])S[ACNOU][A-Z2-7]{20}"),
    _rule("jwt", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{6,}){1,4}\.?", r"(?:^|[^A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8}"),
    _rule("grafana", r"(?<![A-Za-z0-9_-])eyJrIjoi[A-Za-z0-9_=-]{40,}", r"eyJrIjoi[A-Za-z0-9_=-]{8}", 1),
    _rule("password-hash", r"\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|[156]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}|apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|argon2i?d?\$v=\d{1,3}\$[a-z0-9=,]{1,40}\$[A-Za-z0-9+/]{8,64}\$[A-Za-z0-9+/]{16,128})", r"\$(?:2[abxy]?\$[0-9][0-9]|[156]|apr1|argon2i?d?)\$[./A-Za-z0-9=]{6}"),
    _rule("encoded-private-key", _START + r"LS0tLS1CRUdJTi[A-Za-z0-9+/=_-]{20,}", r"(?:^|[^A-Za-z0-9])LS0tLS1CRUdJTi"),
    _rule("gitlab", r"(?<![A-Za-z0-9_])_gitlab_session=(?P<s>[0-9a-f]{32})", r"_gitlab_session=", 1),
    _rule("newrelic", r"(?<![A-Za-z0-9])[A-Za-z0-9]{36}(?:NRAL|FFFFNRAL)(?![A-Za-z0-9])", r"[A-Za-z0-9]{8}NRAL", 40),
    _rule("facebook", r"(?<![A-Za-z0-9])\d{13,17}\|[A-Za-z0-9_-]{27}(?![A-Za-z0-9_-])", r"[0-9]{13}\|[A-Za-z0-9_-]{8}", 8),
    _rule("ntlm", r"(?<![A-Za-z0-9+/])TlRMTVNTUAAD[A-Za-z0-9+/]{40,4000}={0,2}", r"(?:^|[^A-Za-z0-9+/])TlRMTVNTUAAD"),
    _rule("azure-devops", r"(?<![A-Za-z0-9])[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])", r"[A-Za-z0-9]{8}AZDO", 90),
    _rule("truenas", r"(?<![A-Za-z0-9._-])\d{1,3}-[A-Za-z0-9]{64}(?![A-Za-z0-9])", r"(?:^|[^A-Za-z0-9._-])[0-9]{1,3}-[A-Za-z0-9]{24}"),
    _rule("twitch", r"(?<![A-Za-z0-9])live_\d{8,10}_[A-Za-z0-9]{28,32}(?![A-Za-z0-9])", r"live_[0-9]{8}", 2),
    _prefixed("sourcegraph", "sgp_", r"(?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40}(?![0-9a-f])"),
    _prefixed("sourcegraph", "slk_", r"[0-9a-f]{64}(?![0-9a-f])"),
    _prefixed("cargo", "cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _prefixed("dependency-track", "odt_", r"[A-Za-z0-9]{32,40}(?![A-Za-z0-9])"),
    _rule("private-key", r"(?<![A-Za-z0-9+/=])MII[A-Za-z0-9]AgEA[A-Za-z0-9+/]{40}[A-Za-z0-9+/=\s]{40,4000}", r"(?:^|[^A-Za-z0-9+/=])MII[A-Za-z0-9]AgEA[A-Za-z0-9+/]{8}"),
    _rule("kerberos-hash", r"(?<![A-Za-z0-9])\$krb5(?:tgs|asrep|pa)\$(?P<s>[^\s\"']{40,4000})", r"(?:^|[^A-Za-z0-9])\$krb5(?:tgs|asrep|pa)\$"),
    _rule("password-hash", r"(?<![A-Za-z0-9])\$[89]\$[./A-Za-z0-9]{8,20}\$[./A-Za-z0-9]{40,60}", r"\$[89]\$[./A-Za-z0-9]{8}", 2),
    _rule("dropbox", r"(?<![A-Za-z0-9_-])[A-Za-z0-9]{11}AAAAAAAAAA[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])", r"[A-Za-z0-9]AAAAAAAAAA[A-Za-z0-9_-]{8}", 14),
    _rule("jira", r"(?<![A-Za-z0-9+])[MNO][DTjz][A-Za-z0-9+/]{14}Oj?[A-Za-z0-9+/]{26,28}(?![A-Za-z0-9+/=])", r"(?:^|[^A-Za-z0-9+])[MNO][DTjz][A-Za-z0-9+/]{14}O"),
    _rule("password", r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9_]{0,60}_(?:PASS|PASSWORD|PASSWD|PASSPHRASE)=(?P<s>[^\s\"'`$<{%/\[()*\\][^\s\"'`$<{()\\,;]{3,200})(?=\s|$)", r"_(?:PASS|PASSWORD|PASSWD|PASSPHRASE)=[^ \"'`$<{]", 64),
    _rule("okta", r"\bSSWS (?P<s>00[A-Za-z0-9_-]{40})(?![A-Za-z0-9_-])", r"SSWS 00"),
    _rule("django", r"(?<![A-Za-z0-9])django-insecure-(?P<s>[^\s\"']{30,80})", r"django-insecure-"),
    _rule("wechat", r"(?<![A-Za-z0-9])wx[0-9a-f]{16}(?![A-Za-z0-9])"),
    _rule("google-oauth", r"(?<![A-Za-z0-9-])\d{10,14}-[a-z0-9]{32}(?=\.apps\.googleusercontent\.com)", r"\.apps\.googleusercontent\.com", 64),
)  # fmt: skip


@cache
def automaton() -> Automaton:
    """Return what finds them."""
    return Automaton(RULES)


def find_shapes(text: str, plain: bytes, meter: Meter) -> Iterator[Span]:
    """Yield keys of known shape."""
    for rule, match in automaton().matches(text, plain, meter):
        yield Span(*match.span(rule.group), rule.name)
