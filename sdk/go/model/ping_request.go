// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"

	"pingpost/sdk/go/wire"
)

// PingRequest is: What is told of a lead before it is sold. Beside the members below it may have any others; they go on to the buyers. Contact details (names, phone, email, street, however they are spelt) are refused with `contact_field_not_allowed`, at any depth. A buyer's endpoint is sent the same form.
type PingRequest struct {
	// The asker's name for an auction, of 1 to 255 printable characters. It names one auction and no other.
	AuctionID string `json:"auction_id"`
	// A name of 1 to 255 printable characters that is not blank.
	Vertical string `json:"vertical"`
	// A name of 1 to 255 printable characters that is not blank.
	SubVertical *string   `json:"sub_vertical,omitzero"`
	State       StateCode `json:"state"`
	// The first three digits of a ZIP code.
	Zip3 *string `json:"zip3,omitzero"`
	// Whether the person has insurance of this kind.
	CurrentlyInsured *bool `json:"currently_insured,omitzero"`
	// How many vehicles there are to insure.
	VehicleCount *int64 `json:"vehicle_count,omitzero"`
	// The driver's age, as the lower and the upper end of a range.
	DriverAgeBand *string `json:"driver_age_band,omitzero"`
	// How good the lead is held to be, commonly from 0 to 1.
	AIQualityScore *float64 `json:"ai_quality_score,omitzero"`
	// Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
	Source *string `json:"source,omitzero"`
	// Whether the person has agreed to be called. In pings to buyers, false where it is not known.
	TCPAConsent bool `json:"tcpa_consent"`
	// Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
	ConsentCertURL *string `json:"consent_cert_url,omitzero"`
	// Until when the asker listens. Left out, or more than five seconds ahead, it is five seconds from now; what is past is refused as `expired`.
	ExpiresAt *time.Time `json:"expires_at,omitzero"`

	// More are the members that are not named above, such as a campaign's own fields.
	// What came has its numbers as json.Number.
	More map[string]any `json:"-"`
}

type plainPingRequest PingRequest

// MarshalJSON writes the members, and those in More.
func (m PingRequest) MarshalJSON() ([]byte, error) {
	return wire.Join(plainPingRequest(m), m.More)
}

// UnmarshalJSON reads the members, and all others into More.
func (m *PingRequest) UnmarshalJSON(text []byte) error {
	more, err := wire.Split(text, (*plainPingRequest)(m), "auction_id", "vertical", "sub_vertical", "state", "zip3", "currently_insured", "vehicle_count", "driver_age_band", "ai_quality_score", "source", "tcpa_consent", "consent_cert_url", "expires_at")
	m.More = more
	return err
}
