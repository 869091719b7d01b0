"""A study: what is to be audited, and all audits that what is given can answer."""

from ringtrue.study.material import Material
from ringtrue.study.questions import Study

__all__ = ["Material", "Study"]
