"""What would be opened to everybody, or given all rights: buckets, ports, roles, accounts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vector_memory.observe.commands.command_line import Act, CommandLine
from vector_memory.observe.commands.findings import HIGH, LOW, PERMISSIONS, Finding

_PUBLIC = "Everybody may read or change it then."
_REACHED = "Everybody may reach it then."
_ALL_RIGHTS = "It gives somebody all rights."
_GUARD = "It takes a protection away."

_OPENING: tuple[tuple[str, str, str, str], ...] = (
    ("aws", r"s3api put-(?:bucket|object)-acl\b.*(?:public-read|AllUsers|AuthenticatedUsers)", HIGH, _PUBLIC),
    ("aws", r"put-public-access-block\b.*=false", HIGH, _PUBLIC),
    ("aws", r"s3api put-bucket-policy\b.*\"Principal\"\s*:\s*(?:\"\*\"|\{\s*\"AWS\"\s*:\s*\"\*\")", HIGH, _PUBLIC),
    ("aws", r"lambda add-permission\b.*--principal \*", HIGH, _REACHED),
    ("aws", r"modify-(?:image|snapshot)-attribute\b.*\ball\b", HIGH, _PUBLIC),
    ("aws", r"rds modify-db-(?:instance|snapshot-attribute)\b.*(?:--publicly-accessible|\ball\b)", HIGH, _REACHED),
    ("aws", r"iam (?:attach|put)-\w+-policy\b.*(?:AdministratorAccess|PowerUserAccess|IAMFullAccess|\"Action\"\s*:\s*\"\*\")", HIGH, _ALL_RIGHTS),
    ("aws", r"iam (?:deactivate-mfa-device|update-assume-role-policy)\b", HIGH, _GUARD),
    ("aws", r"cloudtrail (?:stop-logging|update-trail\b.*--no-)", HIGH, _GUARD),
    ("aws", r"s3 (?:cp|sync|mv)\b.*--acl[ =]public-read", LOW, _PUBLIC),
    ("gcloud", r"add-iam-policy-binding\b.*(?:allUsers|allAuthenticatedUsers)", HIGH, _PUBLIC),
    ("gcloud", r"add-iam-policy-binding\b.*roles/(?:owner|editor|\w+\.admin)\b", HIGH, _ALL_RIGHTS),
    ("gcloud", r"sql instances patch\b.*0\.0\.0\.0/0", HIGH, _REACHED),
    ("gcloud", r"run deploy\b.*--allow-unauthenticated", LOW, _REACHED),
    ("gsutil", r"(?:iam ch|acl ch|acl set|defacl ch|defacl set)\b.*(?:allUsers|allAuthenticatedUsers|public-read)", HIGH, _PUBLIC),
    ("az", r"role assignment create\b.*(?:Owner|Contributor|User Access Administrator)", HIGH, _ALL_RIGHTS),
    ("az", r"storage\b.*(?:--public-access (?:blob|container)|--allow-blob-public-access true)", HIGH, _PUBLIC),
    ("az", r"firewall-rule create\b.*0\.0\.0\.0.*255\.255\.255\.255", HIGH, _REACHED),
    ("kubectl", r"create (?:cluster)?rolebinding\b.*(?:cluster-admin|system:(?:unauthenticated|anonymous|authenticated))", HIGH, _ALL_RIGHTS),
    ("oc", r"adm policy add-\S+-to-\S+ (?:cluster-admin|privileged|anyuid)", HIGH, _ALL_RIGHTS),
    ("docker", r"(?:run|create)\b.*(?:-v|--volume)[ =]/:/", HIGH, "What runs in it may change the whole machine."),
    ("usermod", r"(?:-\w*G\b|--groups)\s+\S*\b(?:sudo|wheel|root|admin|docker)\b", HIGH, _ALL_RIGHTS),
    ("gpasswd", r"(?:-a|--add)\b.*\b(?:sudo|wheel|root|docker)$", HIGH, _ALL_RIGHTS),
    ("adduser", r"^\S+ (?:sudo|wheel|root|docker)$", HIGH, _ALL_RIGHTS),
    ("passwd", r"(?:^|\s)(?:-d|--delete)\b", HIGH, _GUARD),
    ("setenforce", r"^(?:0|permissive)$", HIGH, _GUARD),
    ("csrutil", r"^disable", HIGH, _GUARD),
    ("spctl", r"--(?:master|global)-disable", HIGH, _GUARD),
    ("iptables", r"-P (?:INPUT|FORWARD) ACCEPT", HIGH, _GUARD),
    ("xhost", r"^\+$", HIGH, _REACHED),
    ("icacls", r"/grant\S*\s+(?:everyone|users|\*S-1-1-0):.*[FMW]", HIGH, _PUBLIC),
    ("setfacl", r"(?:^|[\s,:])(?:o|other)::?r?wx?", HIGH, _PUBLIC),
    ("vault", r"policy write\b|audit disable\b", LOW, _GUARD),
)  # fmt: skip
PROGRAMS = frozenset({name for name, *_ in _OPENING} | {"podman"})
_PORTS = (
    ("aws", r"ec2 authorize-security-group-ingress\b"),
    ("gcloud", r"compute firewall-rules (?:create|update)\b"),
    ("az", r"network nsg rule (?:create|update)\b"),
)
_EVERYWHERE = re.compile(
    r"0\.0\.0\.0/0|::/0|--source-address-prefix(?:es)? (?:'?\*'?|Internet|Any)(?:\s|$)"
)
_WEB = re.compile(
    r"(?:--port|--destination-port-ranges?|FromPort)[ =](?:80|443)(?:\s|$|,)|tcp:(?:80|443)(?:,tcp:(?:80|443))?(?:\s|$)"
)
_SAME = {"podman": "docker"}


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what a command opens to everybody."""
    name, words = _SAME.get(act.name, act.name), " ".join(act.args)
    if act.has("--dry-run", "--dryrun", "--help"):
        return
    for program, pattern in _PORTS:
        if program == name and re.search(pattern, words) and _EVERYWHERE.search(words):
            severity = LOW if _WEB.search(words) else HIGH
            yield Finding(PERMISSIONS, severity, act.what, _REACHED, words)
            return
    for program, pattern, severity, why in _OPENING:
        if program == name and re.search(pattern, words, re.IGNORECASE):
            yield Finding(PERMISSIONS, severity, act.what, why, words)
            return
