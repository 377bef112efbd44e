"""What is said and carries nothing: narration of the next step, applause, greetings, thanks."""

from __future__ import annotations

import re

LONGEST = 220

_APPLAUSE = re.compile(
    r"(?:(?:oh|ah|okay|ok|alright|all right|right|yes|yeah|yep|no|nope|well|so|hey|hi|hello|hmm+|"
    r"perfect|great|excellent|good|nice|awesome|wonderful|fantastic|amazing|brilliant|beautiful|super|"
    r"cool|sure|certainly|absolutely|definitely|exactly|indeed|of course|understood|got it|gotcha|"
    r"done|sorry|apologies|thanks|thank you|thx|cheers|please|congratulations|great news|good news|"
    r"makes sense|sounds good|looks good|lgtm|well done|great job|good job|nice work|great work|"
    r"excellent work|much better|very good|no problem|no worries|my bad|interesting|"
    r"i see|i understand|you'?re (?:absolutely |completely |totally )?(?:right|welcome|correct)|"
    r"(?:good|great|excellent|nice) (?:point|question|catch|idea|progress|call|find|suggestion)|"
    r"that'?s (?:great|perfect|right|correct|good|a (?:good|great) (?:point|question|idea))|"
    r"very much|so much|a lot|again|everyone|claude|there|then|and|but|now|how'?s it going|how are you|"
    r"fine|fair enough|agreed|i agree|works for me|fine by me|all good|not bad|go for it|do it|do so|"
    r"sounds like a plan|i like (?:it|that|this)|i love (?:it|that|this)|neat|sweet|yup|uh|um|"
    r"go on|go ahead|continue|proceed|carry on|keep going|start|ready|it works|works|that works|"
    r"ja|nein|danke|bitte|gut|super|merci|oui|non|gracias|s[ií])[\s,.!?…:;–—-]*)+",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"(?:(?:ok(?:ay)?|now|first|next|then|also|finally|good|great|perfect|excellent|alright|so|and|but|"
    r"wait|hmm+|actually|again|once more|additionally|instead|yes|sure|right|ah|oh|meanwhile|"
    r"i see|before (?:that|i (?:start|begin))|to (?:be sure|start|begin|verify|confirm))[,.!:;\s–—-]+)*"
    r"(?:let me|let's|let us|lets|i'?ll|i will|i'?m going to|i am going to|i'?m now|i need to|i should|"
    r"i must|i want to|i have to|i'?d like to|time to|we need to|we should|going to|we can now|"
    r"i can (?:help|see|start|now)|i'?m (?:currently |now )?(?:starting|checking|looking|running|reading|"
    r"adding|creating|updating|working|testing|waiting|making|ready|here)|allow me to)"
    r"\s(?:[\w'’-]+\s){0,3}?(?:read|re-?read|check|look|see|view|open|inspect|examine|investigate|explore|"
    r"search|find|grep|locate|list|run|re-?run|test|try|verify|confirm|validate|ensure|make sure|build|"
    r"compile|start|begin|continue|proceed|finish|complete|fix|correct|update|edit|modify|change|adjust|"
    r"add|create|write|implement|remove|delete|clean|move|rename|refactor|replace|apply|install|commit|"
    r"push|pull|stage|merge|rebase|review|analy[sz]e|understand|debug|trace|figure|think|plan|mark|"
    r"help|do|get|fetch|grab|take|use|format|lint|restart|stop|kill|wait|launch|spawn|delegate|tackle|"
    r"summari[sz]e|address|set|also|go|work|put|examine|double-check|show|ask|know|have|give|"
    r"make|research|handle|resolve|pick|simplify|break|compare|count|print|log|dig|reproduce|gather|be|"
    r"reading|checking|looking|running|adding|creating|updating|working|on|for|to)\b",
    re.IGNORECASE,
)
_REASONED = re.compile(
    r"\b(?:because|instead of|rather than|since|so that|due to|otherwise|in order to|as it|which means|"
    r"unless|not?\b.{0,30}\bbut|always|never|from now on|weil|statt)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"(?:(?:so|ok(?:ay)?|well|now|great|perfect)[,.!\s]+)*(?:would you like|do you want|shall i|should i (?:go|continue|proceed|"
    r"start|commit|push)|want me to|is there anything|what would you like|anything else|"
    r"how (?:can|may) i help|ready (?:for|to)|feel free|let me know|i'?m here to help|"
    r"does (?:this|that) (?:look|sound|make sense|work)|sound good|what do you think|"
    r"how does (?:this|that) (?:look|sound))\b",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"(?:here(?:'s| is| are)|below (?:is|are)|the following|in summary|to summari[sz]e|summary|"
    r"this (?:includes|means|will)|what (?:i|we) (?:did|found)|changes made|key (?:points|changes|"
    r"features|findings)|i'?ve (?:made|done) the following)\b[^.!?]*:$"
    # What passes, or is done.
    r"|(?:now )?(?:all|the|both|\d+|these|those|everything)?\s*(?:\w+\s){0,3}?(?:tests?|checks?|builds?|"
    r"linting|lint|typecheck|type checks?|types?|everything|hooks?|quality gates?|commits?|push(?:es)?|"
    r"changes|todos?|tasks?|work)\s(?:(?:is|are|were|was|have|has|been|now|all|still)\s)*(?:pass(?:es|ed|ing)?|"
    r"green|succeed(?:s|ed)?|work(?:s|ing)?|clean|happy|fine|complete[d]?|done|running|successful(?:ly)?)"
    r"(?:\s(?:now|successfully|again|too|with no errors|without errors|locally|cleanly))*[.!:\s✅]*",
    re.IGNORECASE,
)


def is_chatter(sentence: str) -> bool:
    """Whether a sentence can be left out of a memory: nobody will look for it. Sentences that give a
    reason or a rule are kept however they begin."""
    text = sentence.strip().replace("\u2019", "'")
    if not any(map(str.isalnum, text)):
        return True
    if len(text) > LONGEST:
        return False
    if _APPLAUSE.fullmatch(text) or _ASKING.match(text) or _REPORT.fullmatch(text):
        return True
    return bool(_STEP.match(text)) and not _REASONED.search(text)


def without_applause(sentence: str) -> str:
    """Return a sentence without the applause that it begins with ("Perfect! Now X" is "Now X")."""
    found = _APPLAUSE.match(sentence)
    rest = sentence[found.end() :] if found else sentence
    ended = found is not None and found[0].rstrip()[-1:] in "!.:,–—-"
    return rest if rest and ended else sentence
