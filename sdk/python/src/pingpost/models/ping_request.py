# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.state_code import StateCode


@dataclass(init=False, repr=False)
class PingRequest(Model):
    r"""Partial data of a lead before its sale. It can have any other members, which go to the buyers. A member for contact data is rejected at any depth with `contact_field_not_allowed`. Only its name decides, without case and punctuation: `first_name`, `last_name`, `full_name`, `given_name`, `family_name`, `surname`, `fname`, `lname`, `contact_name`, `customer_name`; `phone`, `phone_number`, `telephone`, `home_phone`, `work_phone`, `mobile_phone`, `mobile_number`, `cell_phone`, `cell_number`; `email`, `email_address`; `line1`, `street`, `street_address`, `street1`, `street2`, `address1`, `address2`, `address_line1`, `address_line2`; and the campaign's own contact fields. A name that the campaign uses for another field is allowed. Contact data in a member of another name, such as `name`, is not recognized and goes to the buyers. Buyers' endpoints get the same form.
    """

    auction_id: str
    r"""The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
    """
    vertical: str
    r"""A name of 1 to 255 printable characters that is not blank.
    """
    sub_vertical: Optional[str]
    r"""A name of 1 to 255 printable characters that is not blank.
    """
    state: StateCode
    zip3: Optional[str]
    r"""The first three digits of a ZIP code.
    """
    currently_insured: Optional[bool]
    r"""Whether the person has insurance of this kind.
    """
    vehicle_count: Optional[int]
    r"""The number of vehicles to insure.
    """
    driver_age_band: Optional[str]
    r"""The driver's age, as the lower and the upper end of a range.
    """
    ai_quality_score: Optional[float]
    r"""The lead's estimated quality, usually from 0 to 1.
    """
    source: Optional[str]
    r"""Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
    """
    tcpa_consent: bool
    r"""Whether the person agreed to calls. In pings to buyers, false if unknown.
    """
    consent_cert_url: Optional[str]
    r"""The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
    """
    expires_at: Optional[datetime]
    r"""The deadline for the answer. Absent or more than five seconds ahead means five seconds from now. A past time is rejected as `expired`.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("auction_id", "auction_id", str, required=True),
        Member("vertical", "vertical", str, required=True),
        Member("sub_vertical", "sub_vertical", str),
        Member("state", "state", StateCode, required=True),
        Member("zip3", "zip3", str),
        Member("currently_insured", "currently_insured", bool),
        Member("vehicle_count", "vehicle_count", int),
        Member("driver_age_band", "driver_age_band", str),
        Member("ai_quality_score", "ai_quality_score", float),
        Member("source", "source", str),
        Member("tcpa_consent", "tcpa_consent", bool, required=True),
        Member("consent_cert_url", "consent_cert_url", str),
        Member("expires_at", "expires_at", datetime),
    )

    def __init__(
        self,
        *,
        auction_id: str,
        vertical: str,
        sub_vertical: Optional[str] = None,
        state: Union[StateCode, str],
        zip3: Optional[str] = None,
        currently_insured: Optional[bool] = None,
        vehicle_count: Optional[int] = None,
        driver_age_band: Optional[str] = None,
        ai_quality_score: Optional[float] = None,
        source: Optional[str] = None,
        tcpa_consent: bool,
        consent_cert_url: Optional[str] = None,
        expires_at: Optional[datetime] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.auction_id = auction_id
        self.vertical = vertical
        self.sub_vertical = sub_vertical
        self.state = StateCode(state)
        self.zip3 = zip3
        self.currently_insured = currently_insured
        self.vehicle_count = vehicle_count
        self.driver_age_band = driver_age_band
        self.ai_quality_score = ai_quality_score
        self.source = source
        self.tcpa_consent = tcpa_consent
        self.consent_cert_url = consent_cert_url
        self.expires_at = expires_at
        self.extra = dict(extra or {})
