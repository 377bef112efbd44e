"""What would be deleted that runs elsewhere or was published: clusters, buckets, containers, packages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from vector_memory.observe.commands.command_line import Act, CommandLine
from vector_memory.observe.commands.findings import HIGH, INFRASTRUCTURE, LOW, Finding

_DRY = ("--dry-run", "--dryrun", "--help", "--what-if", "--check", "--preview")


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what a program for infrastructure would delete."""
    dry = act.value("--dry-run")
    if dry != "none" and act.has(*_DRY):
        return
    found = list(_VERDICTS[act.name](act, line))
    if found and not line.made(act):
        yield from found


def _found(act: Act, severity: str, why: str, target: str = "") -> Finding:
    return Finding(INFRASTRUCTURE, severity, act.what, why, target or " ".join(act.texts()))


def _terraform(act: Act, line: CommandLine) -> Iterator[Finding]:
    words = act.texts("-chdir -var -var-file -target")
    verb = next(iter(words), "")
    if verb == "run-all":
        words = words[1:]
        verb = next(iter(words), "")
    if verb == "destroy" or (verb == "apply" and "-destroy" in act.args):
        yield _found(act, HIGH, "It destroys everything that this configuration made.")
    elif verb == "apply" and any(one.startswith("-auto-approve") for one in act.args):
        yield _found(act, LOW, "It applies a plan that nobody has read.")
    elif words[:2] in (["state", "rm"], ["workspace", "delete"]) or verb == "force-unlock":
        yield _found(act, LOW, "It forgets what exists, or takes a lock away from who holds it.")


def _pulumi(act: Act, line: CommandLine) -> Iterator[Finding]:
    words = act.texts("-s --stack -C --cwd")
    if words[:1] == ["destroy"] or words[:2] == ["stack", "rm"]:
        yield _found(act, HIGH, "It destroys everything that this stack made.")
    elif words[:1] == ["up"] and act.has("-y", "--yes", "--skip-preview"):
        yield _found(act, LOW, "It applies a plan that nobody has read.")


def _kubectl(act: Act, line: CommandLine) -> Iterator[Finding]:
    words = act.texts(
        "-n --namespace --context --cluster -l --selector -f --filename -k --kubeconfig --grace-period -o"
    )
    verb = next(iter(words), "")
    if verb == "delete":
        kind = (words[1] if len(words) > 1 else "").split("/")[0].lower()
        single = (
            kind in ("pod", "pods", "po", "job", "jobs", "event", "events")
            and len(words) > 2
            or "/" in "".join(words[1:2])
            and kind in ("pod", "po", "job")
        )
        broad = act.has("--all", "-A", "--all-namespaces")
        yield _found(
            act, LOW if single and not broad else HIGH, "It deletes what runs in the cluster."
        )
    elif verb == "drain" or (verb == "scale" and act.value("--replicas") == "0"):
        yield _found(act, LOW, "It stops what runs in the cluster.")
    elif verb == "replace" and act.has("--force"):
        yield _found(act, LOW, "It deletes what runs in the cluster and makes it anew.")


def _helm(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.texts("-n --namespace --kube-context")[:1] in (
        ["uninstall"],
        ["delete"],
        ["del"],
        ["un"],
    ):
        yield _found(act, HIGH, "It removes a release with everything in it.")


def _docker(act: Act, line: CommandLine) -> Iterator[Finding]:
    words = act.texts(
        "-f --file -p --project-name --context -H --filter --profile --env-file -t --timeout"
    )
    if act.name.endswith("-compose"):
        words = ["compose", *words]
    unnamed = any(not one.plain for one in act.words) or act.command.via[-1:] == ("xargs",)
    two = tuple(words[:2])
    if two[:1] == ("compose",):
        if "down" in words and act.has("-v", "--volumes"):
            yield _found(act, HIGH, "It deletes the volumes with their data.")
        elif "rm" in words and act.has("-v"):
            yield _found(act, HIGH, "It deletes containers with their volumes.")
        elif "down" in words and act.has("--rmi"):
            yield _found(act, LOW, "It deletes images.")
    elif two == ("system", "prune"):
        severity = HIGH if act.has("-a", "--all", "--volumes") else LOW
        yield _found(
            act, severity, "It deletes every container, image or volume that is not running."
        )
    elif two[:1] == ("volume",) and words[1:2] in (["rm"], ["prune"], ["remove"]):
        yield _found(act, HIGH, "It deletes a volume with its data.")
    elif two[:1] == ("rm",) or two == ("container", "rm"):
        severity = HIGH if unnamed or act.has("-v", "--volumes") else LOW
        yield _found(act, severity, "It deletes containers with what is only in them.")
    elif two[:1] == ("rmi",) or two in (("image", "rm"), ("image", "prune"), ("container", "prune"), ("builder", "prune"),
                                        ("network", "prune"), ("network", "rm"), ("buildx", "prune")):  # fmt: skip
        yield _found(act, LOW, "It deletes images or containers that must be made again.")
    elif two[:1] in (("swarm",), ("stack",), ("service",), ("secret",)) and words[1:2] in (
        ["rm"],
        ["leave"],
        ["remove"],
    ):
        yield _found(act, HIGH, "It removes services that run.")


_AWS_DELETES = re.compile(
    r"^(?:delete|terminate|deregister|purge|destroy|remove|disable|schedule-key-deletion|revoke|release)(?:-|$)"
)
_AWS_LESSER = re.compile(
    r"^(?:delete-(?:tags|message|alarms|log-stream)|disable-|revoke-|remove-(?:tags|permission)|deregister-targets|untag)"
)
_AWS_TAKES = (
    "--profile --region --output --query --endpoint-url --exclude --include --storage-class"
)


def _aws(act: Act, line: CommandLine) -> Iterator[Finding]:
    words = act.texts(_AWS_TAKES)
    service, verb = (words + ["", ""])[:2]
    local = "localhost" in act.value("--endpoint-url") or "127.0.0.1" in act.value("--endpoint-url")
    if service == "s3":
        if verb == "rm":
            severity = HIGH if act.has("--recursive") and not local else LOW
            yield _found(act, severity, "It deletes objects of a bucket.")
        elif verb == "rb":
            yield _found(act, HIGH if act.has("--force") else LOW, "It deletes a bucket.")
        elif verb == "sync" and act.has("--delete"):
            yield _found(act, HIGH, "It deletes what the target has and the source has not.")
        elif verb == "mv" and act.has("--recursive"):
            yield _found(act, LOW, "It moves objects away.")
    elif _AWS_DELETES.match(verb):
        lesser = local or _AWS_LESSER.match(verb)
        yield _found(act, LOW if lesser else HIGH, "It deletes something of the account.")


_DELETING = re.compile(r"^(?:delete|destroy|purge|remove|rm|unregister|teardown)$")
_CLI_DELETES: dict[str, str] = {
    "gcloud": "something of the cloud project",
    "az": "something of the subscription",
    "doctl": "something of the account",
    "linode-cli": "something of the account",
    "hcloud": "something of the account",
    "scw": "something of the account",
    "oci": "something of the account",
    "ibmcloud": "something of the account",
    "eksctl": "a cluster",
    "flyctl": "an app or its volumes",
    "fly": "an app or its volumes",
    "netlify": "a site",
    "vercel": "a deployment or a project",
    "wrangler": "a worker or its data",
    "firebase": "something of the project",
    "gsutil": "objects of a bucket",
    "railway": "something of the project",
    "cdk": "the stacks",
    "sls": "the services",
    "serverless": "the services",
    "sst": "the app",
    "copilot": "the app",
    "eb": "the environment",
    "sam": "the stack",
    "vagrant": "the machine",
    "nomad": "the job",
    "consul": "keys or services",
    "vault": "secrets",
    "argocd": "an app with what it deployed",
    "flux": "what it deployed",
    "juju": "the model",
    "kops": "the cluster",
    "rclone": "files of the remote",
    "multipass": "the machine",
    "render": "the service",
}
_VERB_LIKE = re.compile(
    r"(?:^|[:-])(?:delete|destroy|purge|remove|rm|teardown|rb|terminate|disable|undeploy|deletefile|rmdir)$|^(?:delete|purge)-|:(?:delete|destroy)"
)
_LOCAL = re.compile(
    r"^(?:config|configurations?|auth|components|alias|context|contexts|local|account clear)$"
)


def _generic(act: Act, line: CommandLine) -> Iterator[Finding]:
    words = act.texts(
        "--project --zone --region --resource-group -g --name -n --account --format --location --subscription"
    )
    place = next((i for i, one in enumerate(words) if _VERB_LIKE.search(one)), -1)
    if place < 0 or place > 5:
        return
    lesser = any(_LOCAL.match(one) for one in words[:place]) or (
        act.name == "gsutil" and not act.has("-r", "-R", "-m") and words[place] == "rm"
    )
    yield _found(act, LOW if lesser else HIGH, f"It deletes {_CLI_DELETES[act.name]}.")


def _heroku(act: Act, line: CommandLine) -> Iterator[Finding]:
    verb = next(iter(act.texts("-a --app")), "")
    if re.match(
        r"^(?:apps|addons|pipelines|domains|spaces|teams):(?:destroy|delete|remove)$|^pg:(?:reset|backups:delete)$",
        verb,
    ):
        yield _found(act, HIGH, "It destroys an app, or what belongs to it.")
    elif verb in ("ps:scale", "config:unset", "releases:rollback") and (
        verb != "ps:scale" or "=0" in " ".join(act.args)
    ):
        yield _found(act, LOW, "It changes what runs.")


def _gh(act: Act, line: CommandLine) -> Iterator[Finding]:
    words = act.texts("-R --repo -X --method -H -f -F")
    method = (act.value("-X", "--method") or "").upper()
    if words[1:2] == ["delete"] or words[1:2] == ["delete-asset"]:
        severity = (
            LOW if words[0] in ("label", "cache", "gist", "alias", "run", "codespace") else HIGH
        )
        yield _found(act, severity, f"It deletes a {words[0]} on GitHub.")
    elif words[:1] == ["api"] and method == "DELETE":
        yield _found(act, HIGH, "It deletes something on GitHub.")
    elif words[:2] in (["repo", "archive"], ["workflow", "disable"], ["repo", "rename"]):
        yield _found(act, LOW, "It changes what others rely on.")
    elif words[:2] == ["repo", "edit"] and act.value("--visibility") == "public":
        yield _found(act, HIGH, "It makes a repository public.")
    elif words[:2] == ["pr", "merge"] and act.has("--admin"):
        yield _found(act, LOW, "It merges past the checks.")


def _npm(act: Act, line: CommandLine) -> Iterator[Finding]:
    verb = next(iter(act.texts("--registry --otp --tag")), "")
    if verb == "unpublish":
        yield _found(act, HIGH, "Others may depend on what it takes back.")
    elif verb == "deprecate":
        yield _found(act, LOW, "It marks a published version as deprecated.")


def _cargo(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.texts()[:1] == ["yank"] and not act.has("--undo"):
        yield _found(act, HIGH, "Others may depend on what it takes back.")


def _gem(act: Act, line: CommandLine) -> Iterator[Finding]:
    if act.texts()[:1] == ["yank"]:
        yield _found(act, HIGH, "Others may depend on what it takes back.")


def _curl(act: Act, line: CommandLine) -> Iterator[Finding]:
    method = act.value("-X", "--request", "--method").upper()
    words = " ".join(act.args)
    bundled = re.search(r"(?:^|\s)-[A-Za-z]*X\s?(DELETE)\b", words)
    deleting = (method or (bundled[1] if bundled else "")) == "DELETE"
    if deleting or re.search(r"/_delete_by_query\b", words):
        address = next((one for one in act.args if "://" in one or "/" in one), "")
        local = re.search(r"localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0", address)
        yield _found(act, LOW if local else HIGH, "It deletes something at a server.", address)


def _hadoop(act: Act, line: CommandLine) -> Iterator[Finding]:
    args = act.args
    if "-rm" in args and act.has("-r", "-R") or "-rmr" in args:
        yield _found(act, HIGH, "It deletes a folder of the cluster's file system.")
    elif args[:2] == ("namenode", "-format"):
        yield _found(act, HIGH, "It formats the cluster's file system.")
    elif "-expunge" in args:
        yield _found(act, LOW, "It empties the trash.")


def _buckets(act: Act, line: CommandLine) -> Iterator[Finding]:
    words = act.texts()
    if words[:1] and words[0] in ("rm", "del", "rb", "remove", "rmdir"):
        grave = act.has("--recursive", "-r", "--force", "-f") or "*" in " ".join(words)
        yield _found(act, HIGH if grave else LOW, "It deletes objects of a bucket.")


_BY_PATTERN: dict[str, tuple[tuple[str, str], ...]] = {
    "restic": ((r"\bforget\b.*--keep-", LOW), (r"\bforget\b", HIGH), (r"\bprune\b|\bkey remove\b", LOW)),
    "borg": ((r"\bdelete\b", HIGH), (r"\bprune\b", LOW)),
    "kopia": ((r"\bsnapshot delete\b|\brepository .*delete", HIGH),),
    "duplicity": ((r"\bremove-(?:all|older)\S*\b.*--force", HIGH),),
    "velero": ((r"\b(?:backup|schedule|restore) delete\b", HIGH),),
    "tarsnap": ((r"(?:^|\s)(?:-d|--nuke)\b", HIGH),),
    "wal-g": ((r"\bdelete\b", HIGH),),
    "pgbackrest": ((r"\bstanza-delete\b|\bexpire\b", HIGH),),
    "barman": ((r"\bdelete\b", HIGH),),
    "tmutil": ((r"\bdelete(?:localsnapshots)?\b|\bdisable\b", HIGH),),
    "snapper": ((r"\bdelete\b", LOW),),
    "timeshift": ((r"--delete", HIGH),),
    "vssadmin": ((r"(?i)\bdelete shadows\b", HIGH),),
    "ansible": ((r"\bstate=absent\b", HIGH),),
    "kafka-delete-records.sh": ((r"", HIGH),),
    "kafka-delete-records": ((r"", HIGH),),
    "hg": ((r"^(?:strip|purge)\b|^update\b.*(?:-C|--clean)\b", HIGH),),
    "jj": ((r"^abandon\b", LOW),),
    "svn": ((r"^revert\b.*-R\b", HIGH), (r"^(?:delete|rm)\b.*://", HIGH)),
    "p4": ((r"^(?:obliterate)\b", HIGH), (r"^revert\b.*\.\.\.", HIGH)),
    "dvc": ((r"^gc\b", HIGH),),
    "fastlane": ((r"\bnuke\b", HIGH),),
    "kind": ((r"^delete (?:cluster|clusters)\b", LOW),),
    "minikube": ((r"^delete\b", LOW),),
    "k3d": ((r"^cluster delete\b", LOW),),
    "colima": ((r"^delete\b", LOW),),
    "limactl": ((r"^(?:delete|rm)\b", LOW),),
    "lxc": ((r"^(?:delete|storage delete|image delete)\b", HIGH),),
    "incus": ((r"^(?:delete|storage delete|image delete)\b", HIGH),),
    "virsh": ((r"^(?:undefine|destroy|vol-delete|pool-delete|snapshot-delete)\b", HIGH),),
    "pveum": ((r"delete", HIGH),),
    "qm": ((r"^destroy\b", HIGH),),
    "databricks": ((r"\b(?:delete|permanent-delete|rm -r|rm --recursive)\b", HIGH),),
    "launchctl": ((r"^(?:remove|unload|bootout)\b", LOW),),
    "systemctl": ((r"^(?:stop|disable|mask|kill)\b", LOW),),
    "gpg": ((r"--delete-(?:secret-)", HIGH),),
}  # fmt: skip


def _by_pattern(act: Act, line: CommandLine) -> Iterator[Finding]:
    words = " ".join(act.args)
    for pattern, severity in _BY_PATTERN[act.name]:
        if re.search(pattern, words):
            yield _found(act, severity, "It deletes what was kept, or takes away what runs.", words)
            return


_VERDICTS: dict[str, Callable[[Act, CommandLine], Iterator[Finding]]] = {
    "terraform": _terraform, "tofu": _terraform, "terragrunt": _terraform,
    "pulumi": _pulumi,
    "kubectl": _kubectl, "oc": _kubectl, "k": _kubectl,
    "helm": _helm,
    "docker": _docker, "podman": _docker, "nerdctl": _docker, "docker-compose": _docker, "podman-compose": _docker,
    "aws": _aws, "awslocal": _aws,
    "heroku": _heroku,
    "gh": _gh,
    "hdfs": _hadoop, "hadoop": _hadoop,
    "s3cmd": _buckets, "s5cmd": _buckets, "mc": _buckets, "mcli": _buckets, "azcopy": _buckets, "s4cmd": _buckets, "ossutil": _buckets,
    **dict.fromkeys(_BY_PATTERN, _by_pattern),
    "npm": _npm, "pnpm": _npm, "yarn": _npm,
    "cargo": _cargo, "gem": _gem,
    "curl": _curl, "http": _curl, "wget": _curl,
    **dict.fromkeys(_CLI_DELETES, _generic),
}  # fmt: skip
PROGRAMS = frozenset(_VERDICTS)
