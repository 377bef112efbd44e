"""What a sentence asserts: a decision, a preference, a problem, a solution … or nothing to keep.

Each intent has cues, turns of phrase with a weight; a sentence has the intent whose cues add up to most
if that is enough. Cues differ by who speaks: "let's use X" is a decision in the user's mouth and mostly
narration in the assistant's.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from vector_memory.model import (
    CONCLUSION,
    CONTEXT,
    DECISION,
    PREFERENCE,
    PROBLEM,
    PROCEDURE,
    QUESTION,
    SOLUTION,
    TODO,
)
from vector_memory.text.chatter import is_chatter
from vector_memory.text.patterns import PatternSet
from vector_memory.text.statements import CODE, HEADING, ITEM, Statement

USER, ASSISTANT = "user", "assistant"
ENOUGH = 1.0
"""What an intent's cues must add up to."""
USER_ENOUGH = 0.75
"""The same for what the user says: there is less of it, and it counts for more."""
ASSISTANT_DECIDES = 1.5
"""The same for a decision of the assistant's: it is the user who decides, and a plan for the next step
reads much the same."""
FIRM = 1.8
"""From here on an idea is firm, not tentative."""
SHORTEST, LONGEST = 12, 600


class Assertion(NamedTuple):
    """An intent with how surely it is meant: `weight` is what its cues add up to."""

    intent: str
    weight: float

    @property
    def firm(self) -> bool:
        """Whether it is said plainly, without a "maybe"."""
        return self.weight >= FIRM


def _cues(*pairs: tuple[str, float]) -> tuple[tuple[str, float], ...]:
    return pairs


class _Table(NamedTuple):
    """Cues for one speaker: their patterns, and at the same place each one's intent and weight."""

    patterns: PatternSet
    worth: tuple[tuple[str, float], ...]


def cues(speaker: str) -> list[tuple[str, str, float]]:
    """Return the cues for a speaker: pattern, intent, weight."""
    return [
        (pattern, intent, weight)
        for table in (_BOTH, _USER if speaker == USER else _ASSISTANT)
        for intent, pairs in table.items()
        for pattern, weight in pairs
    ]


@cache
def _table(speaker: str) -> _Table:
    # Compiled when the first sentence is read, since a start does not wait for that.
    found = cues(speaker)
    return _Table(
        PatternSet([pattern for pattern, _, _ in found]),
        tuple((intent, weight) for _, intent, weight in found),
    )


@cache
def _headings() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((intent, re.compile(one, re.IGNORECASE)) for intent, one in _HEADINGS)


_BOTH: dict[str, tuple[tuple[str, float], ...]] = {
    DECISION: _cues(
        (r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed|settled|chose|picked|opted|went with)\b", 1.8),
        (r"\b(?:decision|design decision|the plan)\b.{0,12}(?::|is|was)\s", 1.2),
        (r"\b(?:go(?:ing)? with|stick(?:ing)? (?:to|with)|switch(?:ing|ed)? (?:to|over to)|settle on)\b", 0.9),
        (r"\b(?:instead of|rather than|in place of|in favou?r of)\b", 0.7),
        (r"\b(?:changed|moved|migrated) from\b.{1,60}\bto\b", 0.8),
        (r"\bno longer\b", 0.5),
        (r"\b(?:we|it|this|that) (?:should|must|needs? to|has to|will) (?:be|use|support|live|run|stay|go)\b", 0.6),
        (r"\b(?:shall|(?:is|are) (?:to be|going to be|gonna be))\b(?! (?:a |an |the |very |so )?(?:able|hard|easy|fun|difficult|problem|issue))", 0.9),
        (r"\b(?:is|are) (?:overkill|out of the question|off the table)\b|\bdeliberately\b", 0.8),
        (r"\bentschieden\b|\bwir nehmen\b|\bon (?:a|va) (?:choisi|utiliser)\b|\bhemos decidido\b", 1.5),
    ),
    PROBLEM: _cues(
        (r"\b(?:the|a|one|another|this|that|main|real|core|root|actual|only|critical|blocking) (?:\w+ ){0,2}(?:issue|problem|bug|cause|culprit|error|failure)s? (?:is|was|here|are|were|seems?|appears?|with|in)\b", 1.3),
        (r"^(?:issue|problem|bug|error|critical|cause|root cause|runtime error|breaking change)\b[^:]{0,30}:", 1.3),
        (r"\b(?:does|do|did|is|are|was|were|has|have|can|could|would|will|should)(?:n't| not) (?:\w+ ){0,2}(?:work|run|exist|build|compile|start|load|show|pass|match|match|respond|support|reach|find|found|being|get|install|render|available|parse|include|happen)\b", 0.9),
        (r"\b(?:fail(?:s|ed|ing)?|broke(?:n)?|breaks?|crash(?:es|ed|ing)?|hang(?:s|ing)?|stuck|leak(?:s|ed|ing)?|corrupt(?:s|ed)?|blocked|lost|missing|unhappy|unreachable|flaky|timed? ?out|conflict(?:s|ing)?|brittle|wrong(?:ly)?|incorrect(?:ly)?|invalid|mismatch|unhandled|redundant|undefined|deprecated|unbounded|regression)\b", 0.75),
        (r"\b(?:error|exception|traceback|warning|bug)s?\b", 0.4),
        (r"\b(?:is|are|was|were|gets?|has been) never \w+(?:ed|en|t)\b|\bnever (?:works?|worked|finish\w*|returns?|fires?|ends?|matches|shows? up)\b", 1.1),
        (r":\(|:/(?!/)|\bannoying\b|\bcan't\b|\bcannot\b|\bunable to\b|\bnever (?:gets?|be|happens?|called|reached|hit)\b", 0.6),
        (r"\bbecause\b|\bsince\b|\bdue to\b|\bcaus(?:es?|ed|ing)\b|\bprevent(?:s|ed|ing)?\b", 0.35),
        (r"\b(?:geht|funktioniert|läuft) nicht\b|\bfehler\b|\bkaputt\b|\bne (?:marche|fonctionne) pas\b", 1.1),
    ),
    QUESTION: _cues(
        (r"\bnot sure (?:if|whether|how|what|yet)\b|\bnobody knows\b|\bwhat (?:i|we) don't know\b|^one open question\b", 1.3),
        (r"\b(?:unclear|undecided|an? open (?:question|point)|remains? open|still torn|i'm torn|we're torn)\b|^open (?:question|point)\b", 1.4),
        (r"\b(?:no idea|(?:don't|do not) know) (?:yet )?(?:what|how|who|whether|if|why)\b", 1.2),
    ),
    SOLUTION: _cues(
        (r"\b(?:went away|disappeared|vanished|(?:is|are) gone|stopped|succeeds?) (?:after|once|when|now|since|with|at last)\b", 1.4),
        (r"\b(?:cured|eliminate[sd]?|cleared up|dealt with|sorted (?:it |that )?out|got rid of|finally helped)\b|\bgot .{3,40} (?:going|working|running) again\b", 1.4),
        (r"\b(?:cut|took|brought|reduced|dropped) .{5,70}\b(?:from|down|back)\b.{1,30} to\b", 1.1),
        (r"\b(?:fixed|solved|resolved|repaired|worked around|addressed)\b(?! (?:position|width|size|height|length|set)\b)", 1.1),
        (r"\b(?:the|easy|quick|simple|real|proper|simplest|cleanest|right|correct|best) (?:fix|solution|workaround|remedy) (?:is|was|would be|:)", 1.4),
        (r"^fix(?:es)?\b\s?[:(]", 1.4),
        (r"\bby (?:adding|changing|using|setting|moving|removing|replacing|making|switching|sending|running|installing|disabling|enabling|checking|appending|passing|wrapping|updating|creating|properly)\b", 0.7),
        (r"^(?:so )?we (?:just )?need to\b", 0.5),
        (r"\b(?:works? now|now works?|that (?:fixed|did) it|solves? (?:the|this|it)|does the trick)\b", 1.1),
        (r"\bbehoben\b|\bgelöst\b|\bcorrig[ée]\b|\bsolucionad[oa]\b", 1.3),
    ),
    TODO: _cues(
        (r"\b(?:all|every|have|has|were|been|no)\b.{0,40}\b(?:addressed|done|completed?|resolved|replaced|remaining)\b", -2.0),
        (r"\b(?:todo|fixme|to-do)\b", 1.3),
        (r"\bnext (?:sprint|week|month|quarter|release|iteration)\b", 1.0),
        (r"\bremind me\b|\bput (?:it |this |that )?on the (?:list|backlog)\b|\bbacklog\b|\bcan wait\b|\bnot now\b|\bat some point\b|\bleft for later\b|\b(?:has|have) yet to\b", 1.3),
        (r"^(?:once|when|before|after) .{5,60}, (?:drop|remove|delete|write|replace|switch|migrate|rotate|somebody|we (?:have|need) to)\b|^(?:after|before) (?:the|we) [^:]{2,30}:|^not done yet\b", 1.3),
        (r"\b(?:has|have|need|needs|ought) to be (?:removed|replaced|adapted|updated|migrated|moved|rotated|deleted|rewritten)\b.{0,60}\b(?:once|when|after|before|until)\b|\b(?:once|when|after|before)\b.{5,80}\b(?:has|have|need|needs) to be (?:removed|replaced|adapted|updated|migrated|moved|rotated|deleted)\b", 1.3),
        (r"^(?:still |what is |what's )?(?:open|left|pending|remaining|outstanding)(?: \w+)?:\s", 1.4),
        (r"\b(?:still|yet) (?:needs?|have|has|to be|missing|open|left|outstanding|pending)\b", 0.9),
        (r"\b(?:left|remaining|outstanding) (?:to do|work|task|item|step)s?\b|\bremains? to\b", 1.0),
        (r"\b(?:next steps?|follow[- ]?ups?|later|eventually|someday|in (?:the|a) (?:future|separate|follow-up|next)|another time|next time|tomorrow|out of scope|separate (?:task|effort|pr|issue)|not (?:yet )?implemented)\b", 0.6),
        (r"\b(?:we|i|you) (?:still )?(?:need|have|ought) to\b.{0,80}\b(?:later|next|then|before|once|after)\b", 0.8),
        (r"\bcan (?:add|enhance|be added|be done) .{0,30}\bif (?:needed|issues|necessary)\b", 1.1),
    ),
    PROCEDURE: _cues(
        (r"\b(?:run|use|type|execute|call|invoke|start(?: it)? with|deploy with|test (?:it )?with)\b:? `[^`]{3,120}`", 0.9),
        (r"^(?:to|for) [^,:]{3,60}[,:] (?:just )?(?:run|use|type|execute|call|set|go|open|first)\b", 1.3),
        (r"^`(?:\./|(?:npm|npx|pnpm|yarn|bun|deno|cargo|just|make|mise|python3?|pytest|uv|pip|poetry|go|docker|podman|git|gh|kubectl|helm|terraform|ansible|ruby|bundle|rake|rails|mvn|gradle|dotnet|swift|php|composer|act|ssh|curl|psql|claude|node|tsc|vercel|fly|brew|apt)\b)[^`]{0,80}`\s?(?:[-–—:=]|to|runs?|starts?|builds?|lints?|formats?)\s", 1.2),
        (r"\b(?:you can|can be|is) (?:now )?(?:run|tested|started|built|deployed|installed|use) (?:it )?(?:with|by|via|using|locally)\b", 0.8),
        (r"^(?:first|1st|step \d+)\b.{5,}\bthen\b", 0.9),
        (r"\b(?:goes|works|is done|go|look)s? like this\b|\b(?:is|are) (?:created|regenerated|generated|added|deployed|built|rotated|restored|updated) (?:in this \w+ )?(?:with|by|via)\b", 1.3),
        (r"^(?:to|for) [^,:]{2,60}, you \w+", 1.2),
        (r"^to (?:\w+ ){0,4}\w+: |\byou (?:flash|get|build|deploy|log in|restart|start|create|profile|run|do) .{0,60}\b(?:by|with|using|and do)\b", 1.1),
        (r"\bfirst,? (?:and )?then\b|, then (?:run|do|approve|start|swap|delete|make|commit)\b|\bfollowed by\b", 0.7),
        (r"\byou can (?:run|test|use|see|check)\b.{0,40}`", 0.7),
    ),
}  # fmt: skip

_USER: dict[str, tuple[tuple[str, float], ...]] = {
    PREFERENCE: _cues(
        (r"(?<!is )(?<!are )(?<!was )(?<!were )(?<!has )(?<!have )(?<!had )\b(?:always|never)\b(?! (?:mind|gets?|be(?:en)?|had|seen|works?|worked|happen|return|fail|show|start|finish|end|match|come|came|reach|fire|run)s?\b)", 0.9),
        (r"\b(?:i|we)(?:'d| would)? (?:really |strongly |explicitly |much |kind of |definitely )*(?:prefer|rather|like(?: it)? (?:to|when|if)|hate|dislike|love)\b", 1.4),
        (r"\b(?:i (?:really |explicitly |definitely )?(?:don't|do not) (?:want|like|need|care)|we (?:don't|do not) (?:want|like|care))\b", 1.3),
        (r"^(?:please |pls |plz |also |and |so |but |no,? |oh,? |hey,? )*(?:don't|do not|never(?! mind)|stop|avoid|no need to)\b", 1.2),
        (r"\bno exceptions?\b|\bwithout (?:checking|asking|telling|my)\b|\bmy (?:explicit )?(?:ok|okay|approval|permission|say-so)\b|\bask (?:me )?(?:first|before|instead)\b", 1.3),
        (r"\bi (?:can't stand|cannot stand|generally favou?r|favou?r|like (?:small|short|my|to|\w+ \w+ (?:more|better))|want to (?:hear|know)|expect)\b", 1.2),
        (r"\b(?:in|for|across) (?:every|all|any|each)(?: other)? (?:of )?(?:my )?projects?\b|\bwhatever (?:the )?project\b|\bfor god's sake\b", 1.0),
        (r"\byou (?:do not|don't|never) (?!need|have|know|want|think|like|see|get|seem)\w+|\bskip the\b", 0.9),
        (r"\b(?:commit messages?|(?:public |variable )?names?|comments?|prs?|branches|diffs?|lines|answers?|replies|refactorings?)\b.{0,50}\b(?:in the imperative|max|under \d|at most|must be|should be|in english|separate)\b", 0.9),
        (r"\b(?:please|pls|plz) (?:don't|do not|never|always|avoid|stop|make sure|keep|use)\b", 1.0),
        (r"^(?:no,? |please |just |actually,? )*use [`\w@./-]+(?:,| \(?not\b| instead| rather|[.!]?$)", 1.5),
        (r"\b(?:from now on|as a rule|going forward)\b", 1.6),
        (r"\bby default\b", 0.6),
        (r"\b(?:in (?:the )?future|in general|whenever|each time|every time|to be clear|remember (?:that|to))\b", 1.0),
        (r"^(?:please |also |and |so |but |no,? )*(?:don't|do not|no need to)\b.{0,60}\b(?:today|yet|for now|right now|this time|tonight|just now)\b", -0.8),
        (r"\bkeep(?:ing)? (?:it|things|them|everything) (?:\w+ )?(?:simple|short|small|clean|the same|minimal|concise)\b", 0.9),
        (r"\b(?:too|not so|less|more) (?:verbose|long|tentative|chatty|wordy|careful)\b", 0.8),
        (r"\bmy (?:preferred|preference|favou?rite|usual|style)\b", 1.2),
        (r"\bimmer\b|\bniemals?\b|\bbitte (?:kein|nicht)\b|\btoujours\b|\bjamais\b|\bsiempre\b|\bnunca\b", 1.0),
    ),
    DECISION: _cues(
        (r"^(?:(?:ok(?:ay)?|yes|yeah|no|fine|sure|so|and|also|then|well|alright|great|good|cool|now|please)[,.!:; ]+)*(?:let's|lets|let us)\b(?! (?:see|check|look|try|test|talk|think|discuss|start|begin|continue|run|commit|push|go ahead)\b)", 1.3),
        (r"\b(?:we|i) (?:\w+ )?(?:want|wanted) (?:to (?:be|use|have|support|make|keep|build|go|add|allow|implement)|an?|it|this|the)\b", 1.0),
        (r"\b(?:we|it|this|that|they|there|everything|you) (?:\w+ )?(?:should|must|needs? to|has to|have to|will need)\b(?! (?:i|we|you)\b)", 0.8),
        (r"\b(?:i changed my mind|i'd like (?:it |this |that |you )?to|make it so|let it|should be)\b", 0.9),
        (r"\bso that\b|\binstead\b", 0.5),
        (r"\b(?:i'd|i would) (?:actually |really )?(?:love|like|want)\b|\bwe (?:do|use|go) \w+-first\b", 1.0),
        (r"^(?:(?:ok(?:ay)?|so|and|also|then|now|please|pls|first)[,.!:; ]+)*(?:do|run|list|find|show|check|look|explain|tell|give|try|fix|commit|push|rebase|resolve|print|open|read|search|recall|rerun|retry|summari[sz]e|describe|compare|investigate|debug|analy[sz]e|review|go)\b", -1.5),
        (r"^(?:(?:ok(?:ay)?|so|and|also|then|now|please|pls|first)[,.!:; ]+)*(?:add|rename|remove|create|put|move|make|return|delete|drop|write|replace)\b.{0,80}\b(?:that|there|here|again|so we can see|something sensible)\b", -0.5),
        (r"\bwe (?:don't|do not) need\b|\b(?:instead|rather)[.!]?$", 1.2),
        (r"^(?:the |our |all |every |each |new |old |access |\w+s )[^,?]{2,60}? (?:should|must|shall|has to|have to|stays?|remains?)\b", 0.9),
        (r"\bthen we (?:use|take|go|keep|do)\b", 1.0),
        (r"\bwe(?:'ll|'re not| will| won't| are not| split)\b(?! (?:see|need|have|be able))|\bgoing w(?:/|ith\b)", 0.9),
        (r"^(?:ok,? |nah,? |no,? )?(?:scrap|forget|ditch|name it|call it|no \w+(?: \w+)? (?:in|for|on|at) (?:this|the|our))\b", 1.0),
        (r"\b(?:stays?|remains?) (?:on|in|with|as|at|where|v?\d)\b|\bstays[.;,]|\bis enough\b|\b(?:capped|limited) (?:at|to)\b|\bwill (?:live|sit|use|go|run|expire)\b|\bgets? an? \d?-?\w+\b|\bgo(?:es)? (?:to|behind|into) (?:the|a)\b", 0.8),
        (r"^(?:(?:ok(?:ay)?|so|and|also|then|now|please|first)[,.!:; ]+)*(?:create|add|remove|delete|replace|make|keep|move|rename|drop|support|store|write|return|show|hide|put|have)\b(?=(?:.*\b[\w'-]{3,}\b){4,})", 0.8),
        (r"\b(?:i think|i bet|i guess|i feel like) (?:we|it|that|this|the)\b", 0.5),
        (r"\bjust (?:use|launch|do|make|keep|pick|take|picking|using)\b", 0.6),
    ),
    PROBLEM: _cues(
        (r"\b(?:still )?(?:doesn't|does not|didn't|isn't|not) (?:quite )?(?:work|working|right|correct|true|helpful|supported|there)\b", 1.1),
        (r"^(?:(?:ok(?:ay)?|so|and|also|then|now|please|pls|first)[,.!:; ]+)*(?:do|run|list|find|show|check|look|explain|tell|give|try|fix|commit|push|rebase|resolve|print|say|get)\b|^sorry\b|\bi don't get it\b", -1.0),
        (r"\b(?:loses?|drops?|drifts?|desyncs?|flap(?:s|ping)|stutters?|lags?|truncates?|overlaps?|flickers?|swallows?|dies|chokes?|ignores?|misses|gets? (?:killed|truncated|cut off|charged|stuck|lost|overwritten)|(?:comes?|came|turns?) (?:out|up|back) (?:blank|empty|wrong|garbled))\b", 0.8),
        (r"\b(?:cut off|off by|too (?:big|slow|long|large|small|many)|way too|randomly|case[- ]sensitive|question marks|(?:takes?|took) (?:over|more than|forever|\d+)|i get (?:a|an|the) \d{3})\b", 0.8),
        (r"\bkeeps? \w+ing\b|\beven though\b|\bcan't \w+ \w+|\btwice\b|\binstead of (?:a few|\w+ (?:seconds|minutes|hours|ms))\b|\bbehind the (?:modal|dialog|header|proxy)\b", 0.5),
        (r"\b(?:something|it|this|that|you|we) (?:just )?(?:broke|lost|messed up|is broken|went wrong)\b", 1.2),
        (r"\bi (?:see|get|got|have|notice[d]?|found|keep getting|just found)\b.{0,60}\b(?:errors?|warnings?|fail|problem|issue|that)\b", 0.7),
    ),
    CONTEXT: _cues(
        (r"\b(?:i|we) (?:use|have|had|host|run|deploy|work|merged|created|deleted|moved|own|already|only have|develop|are (?:in|on|using|running))\b", 0.9),
        (r"\b(?:it|this|that|the (?:project|repo|app|site|code|server|team|company|customer)) (?:is|was|runs|lives|uses|has)\b.{10,}", 0.5),
        (r"\b(?:our|my) (?:\w+ ){0,3}(?:is|are|has|have|runs?|uses?|lives?)\b|^most of our\b|^this is an? (?:monorepo|\w+ (?:app|service|repo|project|library))\b", 0.9),
        (r"\b(?:staging|prod(?:uction)?|ci|the (?:board|dataset|legacy \w+|game|firmware|cluster|backend|frontend|audit|company|customer|client|stack))(?: \w+)? (?:is|are|has|have|runs?)\b", 0.9),
        (r"\b(?:launch|release|deadline|freeze|demo|go-?live) is\b|\bi'?m the only\b", 1.0),
        (r"\bcomes? from\b|\benvironment (?:uses|is|has)\b", 0.7),
        (r"\b(?:owns|maintains|is responsible for|is on (?:leave|holiday|vacation)|bought|acquired|self[- ]hosted|written in|code freeze|release train)\b|\bruns? (?:on|through)\b", 0.8),
        (r"\bthere(?:'s| is| will be) (?:a|an|the|another)\b.{0,40}\b(?:release|freeze|deadline|demo|launch|audit|migration|cutover|incident)\b", 1.0),
        (r"\bhttps?://\S+", 0.2),
        (r"\b(?:my|our) (?:name|machine|laptop|server|setup|environment|team|company|repo|project|stack|site|website)\b", 0.8),
    ),
    CONCLUSION: _cues(
        (
            r"\bturns out\b|\bso it(?:'s| is) not\b|\b\d+ ?% of\b|\b\d+ (?:out )?of (?:the )?\d+\b|\bmeasur(?:ed|ing|ements?)\b",
            1.0,
        ),
    ),
}  # fmt: skip

_ASSISTANT: dict[str, tuple[tuple[str, float], ...]] = {
    PROBLEM: _cues(
        (r"\b(?:has no|have no|there is no|there's a race|race (?:condition|between)|lacks?|never \w+ed|doesn't (?:verify|include|check|validate|escape|handle|close|release|split)|hard-?coded|orphaned|bypass(?:es)?|in plain text|full table scan|dereferences|truncated|chokes?|double[sd]?)\b", 0.9),
        (r"\bso (?:any(?:one|body)|tenants|users|every|it can|they can|each)\b", 0.5),
    ),
    CONCLUSION: _cues(
        (r"\b(?:this|that|which|it) (?:means|explains|shows|confirms|proves|indicates|suggests|implies)\b", 1.1),
        (r"\b(?:turns out|it appears|it seems|apparently|in fact|confirmed|verified|discovered|found that|found the|i found|i can see (?:that|the)|i see (?:that|the)|i notice)\b", 0.9),
        (r"\b(?:the (?:key|main|important|critical) (?:\w+ )?(?:change|difference|insight|point|finding|thing|advantage|reason))\b", 1.1),
        (r"\b\d+(?:\.\d+)?\s?%|\b\d+ (?:tests?|files?|lines?|errors?|warnings?|passed|failed)\b", 0.7),
        (r"\b(?:so|therefore|thus|hence|that's why|this is why|the reason)\b.{0,80}\b(?:is|was|are|can|will|because|never)\b", 0.7),
        (r"\bbecause\b|\bsince\b", 0.5),
        (r"\b(?:by default|actually|already|only|never|always|both|either|currently|supports?|requires?|depends? on|expects?|returns?|defaults? to)\b", 0.35),
        (r"\b(?:is|are|was|were|does|do) (?:now |not |already |properly |correctly |actually )+\w+", 0.35),
        (r"\b(?:better|worse|faster|slower|cleaner|simpler|safer|more \w+|less \w+) (?:than|for|because)\b", 0.6),
        (r"\b(?:works?|compatible|supported|available|possible|impossible) (?:with|by|in|on|because|only)\b", 0.5),
    ),
    SOLUTION: _cues(
        (r"^(?:i've|i have|i) (?:now |just |also |successfully )*(?:fixed|replaced|restored|resolved|switched|removed|changed|moved|converted|rewritten|rewrote|refactored|disabled|enabled|implemented|simplified|updated|created|added|configured|migrated|set up)\b", 1.0),
        (r"^(?:(?:now|also|properly|successfully) )*(?:fixed|replaced|restored|resolved|switched|removed|changed|moved|converted|rewrote|refactored|disabled|enabled|implemented|simplified|added|used?|using|uses|updated|handles|excluded|created|improved|corrected|reverted|extracted|clarified|ensured|eliminated|configured|migrated)\b", 0.9),
        (r"\bnow (?:uses?|using|runs?|hides?|shows?|handles?|supports?|works?|sends?|returns?|includes?|respects?|checks?|opens?|ignor\w+)\b", 0.8),
        (r"\b(?:to|so that|which) (?:fix|fixes|solve[sd]?|avoid[s]?|prevent[s]?|ensure[s]?|handle[s]?)\b", 0.5),
    ),
    DECISION: _cues(
        (r"\b(?:i'll|i will|we'll|we will|i'm going to|let me|let's)\b.{3,90}\b(?:instead|because|since|so that|rather than)\b", 1.2),
        (r"^(?:as agreed|agreed|per your|as you (?:wanted|asked|said))\b", 1.7),
        (r"\b(?:i(?:'d)? (?:recommend|suggest|propose|lean toward|go with)|my recommendation|recommended|recommendation:)\b", 0.9),
        (r"\b(?:the )?(?:cleanest|best|simplest|safest|right|better|most \w+) (?:solution|approach|option|way|choice|fit)\b", 0.9),
        (r"\b(?:seems like the best fit|is the way to go|makes (?:the )?most sense)\b", 1.0),
        (r"\b(?:we|i) (?:should|need to) (?:use|keep|add|modify|support|separate|drop|avoid|prefer|build)\b", 0.6),
        (r"^since (?:we|you|the|it)\b.{10,}\b(?:we can|i'll|i can|let's|we should)\b", 1.1),
        (r"\bi'll (?:use|spawn|go with|take|keep|put|stick|split|make|treat|assume)\b", 0.6),
        (r"\b(?:we're|you want|you'd like|not)\b.{0,20}\*?\*?not\b.{4,}", 0.4),
    ),
    CONTEXT: _cues(
        (r"^(?:the |your )?(?:backend|frontend|ci|api|server|(?:production )?database|authentication)\b.{0,20}\b(?:is|runs|uses)\b", 1.0),
        (r"^(?:this|the) (?:project|repo(?:sitory)?|codebase|app(?:lication)?|code|library|tool|site|server|test suite|setup|service|module)\b.{0,30}\b(?:is|uses|has|appears|consists|runs|lives|contains|relies)\b", 1.0),
        (r"\b(?:is|are) (?:located|defined|configured|implemented|stored|kept|documented|hosted|deployed|set)\b (?:in|at|by|on|to|with)\b", 0.9),
        (r"\b(?:opened|created|merged|pushed) (?:a |the |an |new )?(?:pr|pull request|branch|commit|issue|repo(?:sitory)?|empty commit)\b", 1.1),
        (r"^(?:architecture|stack|tech stack|framework|language|database|host(?:ing)?|deployment|dependencies|development|project \w+|structure|entry point|tests?|testing)\b[^:]{0,20}:", 1.0),
        (r"`?[\w./-]+\.\w{1,5}`?(?::\d+)?\]?(?:\([^)]*\))?\s?[-–—:]\s\w+", 0.7),
        (r"\bwe're (?:in|on|using|running)\b", 0.8),
    ),
}  # fmt: skip

_HEADINGS: tuple[tuple[str, str], ...] = (
    (TODO, r"\b(?:to-?dos?|next steps?|remaining|future|outstanding|left|not yet|follow-?ups?|later|planned|roadmap|missing)\b"),
    (PROBLEM, r"\b(?:issues?|problems?|bugs?|errors?|limitations?|risks?|gotchas?|known issues|what(?:'s| is) wrong|weak points?|cons|concerns?|root cause)\b"),
    (SOLUTION, r"\b(?:fix(?:es|ed)?|solutions?|changes(?: made)?|what (?:i|was|we) (?:did|changed|fixed|done|added)|improvements?|resolved|implemented|completed|done|summary of (?:changes|fixes)|\w* ?fix summary)\b"),
    (DECISION, r"\b(?:decisions?|decided|recommendations?|recommended|approach|design|plan|mvp|scope|agreed|architecture decisions?)\b"),
    (PROCEDURE, r"\b(?:usage|how to|commands?|to run|running|quick ?start|set-?up|getting started|installation|steps to|deploy(?:ment|ing)?|workflow)\b"),
    (QUESTION, r"\b(?:open questions?|questions?|unclear|clarifications?)\b"),
    (CONCLUSION, r"\b(?:findings?|results?|conclusions?|key (?:points|takeaways|insights|findings|benefits|changes)|benefits|advantages|strengths|pros|analysis|verdict|assessment|what i found|test results|status|why)\b"),
    (CONTEXT, r"\b(?:overview|architecture|structure|stack|project|context|background|components|features|files?|key files|modules|technolog\w+)\b"),
    (PREFERENCE, r"\b(?:preferences?|conventions?|rules|guidelines|style)\b"),
)  # fmt: skip
_OF_ITSELF = re.compile(r"(?:i'?(?:ll|m)?\b|let|now\b|we'll|you\b)", re.IGNORECASE)
_STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|had|uses?|needs?|does|do|can|will|would|should|must|means|gets?|runs?|"
    r"returns?|looks?|resolves?|handles?|comes?|happens?|seems?|exists?|contains?|references?|covers?|"
    r"stays?|makes?|maps)\b",
    re.IGNORECASE,
)
_CONCRETE = re.compile(r"`|\*\*|\w_\w|\w/\w|\d|\.\w{2,4}\b|[a-z][A-Z]", re.IGNORECASE)
_LONG_WORD = re.compile(r"\b[\w'-]{4,}\b")
STATES_FROM = 25
LONG_WORDS = 9
STATES_CONCRETE, STATES_MUCH = 0.6, 0.3
"""What a sentence of the assistant gains that is not about its own steps: where it states something of
a thing that it names, and where it has many words that carry something."""

UNDER_HEADING = 0.8
REFUSING = 1.2
"""What the words of a refusal gain: users refuse because of how they want things."""

_HEDGED = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|might|could be|not sure|i think|i guess|i'm guessing|"
    r"i bet|seems?|looks like|kind of|sort of|vielleicht|peut-être|quizás?)\b",
    re.IGNORECASE,
)
HEDGE = 0.5
_CONTENT = re.compile(r"[^\W\d_]{3,}|\d+")
_RHETORICAL = re.compile(
    r"\b(?:can|could|would|will) you (?:please )?(?:also )?(?:read|check|look|see|add|update|fix|make|"
    r"run|write|create|remove|rename|explain|help|show|list|have|try|use|do|commit|push|rebase|put|"
    r"examine|review|give|tell|implement|change|move|refactor)\b|^(?:right|ok(?:ay)?|really|why not|"
    r"how so|what else|anything else|something else)\?$|^(?:why|what|which \w+|how) did you\b|^how long will\b|^what(?:'s| is) the command\b|\bcan you say\b|^(?:and |so |but )?(?:did|have|are|were) you\b|^how many lines\b",
    re.IGNORECASE,
)


_LOG = re.compile(r"^(?:[\w.]*(?:Error|Exception)\b\s?:|FAILED |error\[|Traceback |at [\w.$]+\()")
"""What a program printed, pasted."""
_WISH = re.compile(
    r"\b(?:can|could|would|will) you (?:please )?(?:also |now )*(?:add|update|make|create|remove|rename|use|"
    r"implement|change|move|refactor|replace|support|rewrit\w+|help (?:with )?(?:rewriting|refactoring)|"
    r"convert|switch|hide|show|keep|store|split|extract)\b",
    re.IGNORECASE,
)
"""A request that says how something is to be, rather than what to do next."""


def assertion(said: Statement, speaker: str, refusing: bool = False) -> Assertion | None:
    """Return what a statement asserts, None where it is nothing to keep.

    Args:
        speaker: `user` or `assistant`.
        refusing: it is the reason that the user gave for refusing a step, or an answer to a question.
    """
    text = said.text
    if speaker == USER and _LOG.match(text):
        return None
    if said.form in (CODE, HEADING) or not SHORTEST <= len(text) <= LONGEST:
        return None if not (refusing and text) else Assertion(PREFERENCE, REFUSING)
    if text.rstrip(" *_`").endswith("?"):
        return _question(text, speaker)
    if (speaker == ASSISTANT and is_chatter(text)) or text.endswith(":"):
        return None
    weights = _weights(said, speaker)
    if refusing:
        weights[PREFERENCE] = weights.get(PREFERENCE, 0.0) + REFUSING
    if said.done is not None:
        weights[SOLUTION if said.done else TODO] = 2.0
    if speaker == ASSISTANT and 0.0 < weights.get(DECISION, 0.0) < ASSISTANT_DECIDES:
        weights[CONCLUSION] = max(weights.get(CONCLUSION, 0.0), weights.pop(DECISION))
    intent = max(weights, key=lambda one: weights[one], default="")
    return (
        Assertion(intent, weights[intent])
        if sum(sorted(weights.values())[-2:]) >= (ENOUGH if speaker == ASSISTANT else USER_ENOUGH)
        else None
    )


def _weights(said: Statement, speaker: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    patterns, worth = _table(speaker)
    for place in patterns.found(said.text):
        intent, weight = worth[place]
        weights[intent] = weights.get(intent, 0.0) + weight
    if speaker == ASSISTANT and (stated := _stated(said.text)):
        weights[CONCLUSION] = weights.get(CONCLUSION, 0.0) + stated
    if said.heading and said.form == ITEM:
        for intent, pattern in _headings():
            if pattern.search(said.heading):
                weights[intent] = weights.get(intent, 0.0) + UNDER_HEADING
                break
    return weights


def _stated(text: str) -> float:
    """Return how much a sentence of the assistant states of anything but its own steps."""
    if _OF_ITSELF.match(text):
        return 0.0
    verb = _STATES.search(text, STATES_FROM)
    concrete = verb is not None and _CONCRETE.search(text, verb.end()) is not None
    much = sum(1 for _ in _LONG_WORD.finditer(text)) >= LONG_WORDS
    return STATES_CONCRETE * concrete + STATES_MUCH * much


def _question(text: str, speaker: str) -> Assertion | None:
    words = len(_CONTENT.findall(text))
    if speaker == USER and words > 6 and _WISH.search(text):
        return Assertion(DECISION, ENOUGH)
    if _RHETORICAL.search(text) or is_chatter(text) or words < (5 if speaker == USER else 7):
        return None
    return Assertion(QUESTION, 1.4 if speaker == USER else 1.2)


def hedged(text: str) -> bool:
    """Whether a sentence says itself that it is not sure."""
    return _HEDGED.search(text) is not None
