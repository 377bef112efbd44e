"""`setting`: whether who asks may change a setting. What agents change, and what they are refused, is in the audit log."""

from __future__ import annotations

from vector_memory import config
from vector_memory.errors import NotFoundError
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context

ACTIONS = ("set", "add", "remove", "unset")


class SettingRequest(messages.Request):
    """A setting (`name`) is to be changed by the command line, which has checked it, and writes it.

    Attributes:
        words: what stands behind the name, as a shell reads it.
    """

    action: str = messages.one_of(ACTIONS, "set")
    name: str = messages.word()
    words: str = messages.word()


class SettingAnswer(messages.Answer):
    """The setting that may be changed."""

    name: str


def allow_setting(ctx: Context, request: SettingRequest) -> SettingAnswer:
    """Let a setting be changed, and note it where an agent does.

    Raises:
        BadInputError: an agent changes one that is the user's alone.
        NotFoundError: there is no such setting.

    Returns:
        The setting's name: who asks may write it.
    """
    if request.name not in config.names():
        raise NotFoundError("There is no such setting.", "`vector-memory config list` has all.")
    require_allowed(ctx, request, request.name, request.action, request.words)
    return SettingAnswer(request.name)


def require_allowed(
    ctx: Context, request: messages.Request, name: str, action: str, words: str
) -> None:
    """Make sure that who asks may change a setting, and note it where an agent does, or would. To be called right before
    the setting is written, when all else is checked, so that what is noted happens.

    Raises:
        BadInputError: an agent changes one that is the user's alone. It names the command for it.
    """
    is_users = config.is_users(name)
    if request.is_agent:
        audit_action = "setting_refused" if is_users else "setting"
        ctx.state.audit(audit_action, request.actor, [], {"action": action, "name": name})
    if is_users:
        command = f"vector-memory config {action} {name} {words}"
        request.require_user(f"changes {name}", command.rstrip())
