package market

import (
	"crypto/sha256"
	"time"
)

// WebhookType is the type of event that a webhook reports to a supplier. A lead causes each type
// at most once. The numbers are in the log and never change.
type WebhookType uint8

const (
	WebhookNone       WebhookType = 0
	WebhookPosted     WebhookType = 1 // the buyer has the lead
	WebhookContacted  WebhookType = 2
	WebhookQualified  WebhookType = 3
	WebhookSold       WebhookType = 4
	WebhookReturned   WebhookType = 5
	WebhookUnmatched  WebhookType = 6 // the lead is unsold
	WebhookPostFailed WebhookType = 7 // the supplier received ACCEPTED, but the buyer does not have the lead
	webhookTypeEnd    WebhookType = 8
)

var webhookNames = [webhookTypeEnd]string{
	"none", "lead.posted", "lead.contacted", "lead.qualified", "lead.sold",
	"lead.returned", "lead.unmatched", "lead.post_failed",
}

func (t WebhookType) String() string { return EnumName(webhookNames[:], int(t), "unknown_hook") }

// WebhookTypeCount is the number of webhook types, including WebhookNone, for arrays indexed by
// one.
const WebhookTypeCount = int(webhookTypeEnd)

// WebhookID identifies a webhook; receivers use it to recognize repeats.
//
// It is computed and not stored. A lead causes each type once, so lead and type identify the
// webhook. The time of its cause is added, so that identifiers sort by age. All three are in the
// log. So the identifier is the same at every attempt, after a restart, and on another machine.
type WebhookID [16]byte

const webhookPrefix = "evt_"

// ComputeWebhookID returns the identifier of the webhook of this type that the lead caused. createdNanos
// is the time of the log batch with the causing event, in Unix nanoseconds.
func ComputeWebhookID(lead LeadID, webhookType WebhookType, createdNanos int64) WebhookID {
	sum := sha256.Sum256(append(lead[:], byte(webhookType)))
	return WebhookID(ComposeID(createdNanos/1_000_000, [10]byte(sum[:10])))
}

// AppendAsText appends the identifier as text, such as evt_01jd….
func (id WebhookID) AppendAsText(dst []byte) []byte {
	return appendBase32ID(append(dst, webhookPrefix...), id)
}
func (id WebhookID) String() string { return string(id.AppendAsText(nil)) }

// ParseWebhookID reads the text that WebhookID.AppendAsText writes. ok is false for any other text.
func ParseWebhookID(s string) (id WebhookID, ok bool) {
	return parseID[WebhookID](webhookPrefix, s)
}

// WebhookRequest is one attempt to send a webhook. All attempts of one webhook carry the same
// identifier and the same bytes; each has its own signature.
type WebhookRequest struct {
	Endpoint OutboundEndpoint // its Credential names the signing secret; without a URL no webhook can be sent
	ID       string           // of the webhook: webhook-id
	Body     []byte           // read only, and not used after the attempt has returned
	Deadline time.Time        // end of the attempt
}

// WebhookAttemptResult is the result of one attempt to send a webhook. A webhook without acknowledgement
// is sent again, so there is no unknown result as for posts.
type WebhookAttemptResult struct {
	Delivered bool                 // acknowledged in time, with a 2xx
	Status    int                  // of the answer; 0: no answer
	Fault     OutboundRequestFault // why there was no usable answer; FaultNone if there was one
	Elapsed   time.Duration
}
