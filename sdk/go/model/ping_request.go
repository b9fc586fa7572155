// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"

	"pingpost/sdk/go/wire"
)

// PingRequest is: Partial data of a lead before its sale. It can have any other members, which go to the buyers. A member for contact data is rejected at any depth with `contact_field_not_allowed`. Only its name decides, without case and punctuation: `first_name`, `last_name`, `full_name`, `given_name`, `family_name`, `surname`, `fname`, `lname`, `contact_name`, `customer_name`; `phone`, `phone_number`, `telephone`, `home_phone`, `work_phone`, `mobile_phone`, `mobile_number`, `cell_phone`, `cell_number`; `email`, `email_address`; `line1`, `street`, `street_address`, `street1`, `street2`, `address1`, `address2`, `address_line1`, `address_line2`; and the campaign's own contact fields. A name that the campaign uses for another field is allowed. Contact data in a member of another name, such as `name`, is not recognized and goes to the buyers. Buyers' endpoints get the same form.
type PingRequest struct {
	// The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
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
	// The number of vehicles to insure.
	VehicleCount *int64 `json:"vehicle_count,omitzero"`
	// The driver's age, as the lower and the upper end of a range.
	DriverAgeBand *string `json:"driver_age_band,omitzero"`
	// The lead's estimated quality, usually from 0 to 1.
	AIQualityScore *float64 `json:"ai_quality_score,omitzero"`
	// Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
	Source *string `json:"source,omitzero"`
	// Whether the person agreed to calls. In pings to buyers, false if unknown.
	TCPAConsent bool `json:"tcpa_consent"`
	// The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
	ConsentCertURL *string `json:"consent_cert_url,omitzero"`
	// The deadline for the answer. Absent or more than five seconds ahead means five seconds from now. A past time is rejected as `expired`.
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
