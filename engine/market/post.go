package market

import (
	"time"

	"pingpost/engine/market/escape"
)

// The known fields by their place in a post's lead: in address, in tcpa, or in the lead
// itself, which also has postRest.
var (
	postAddress = [...]LeadFieldIndex{SlotLine1, SlotCity, SlotState, SlotZip}
	postConsent = [...]LeadFieldIndex{SlotConsentText, SlotConsentTimestamp, SlotIPAddress, SlotConsentCertURL}
	postName    = [...]LeadFieldIndex{SlotFirstName, SlotLastName, SlotEmail, SlotPhone}
	postRest    = [...]LeadFieldIndex{SlotSource, SlotTCPAConsent, SlotQualityScore}
)

// AppendLeadOfBuyerPost appends the object "lead" of a post to a buyer. It contains lead_uuid, the
// names, email and phone, and address and tcpa with their known fields. Then follow all other
// fields under their names for buyers, and the unknown members that the campaign keeps. The
// mapping m must have filled l.
func (m *FieldMapping) AppendLeadOfBuyerPost(dst []byte, l *Lead, id LeadID) []byte {
	dst = append(dst, `{"lead_uuid":"`...)
	dst = id.AppendAsText(dst)
	dst = append(dst, '"')
	for _, slot := range postName {
		dst = m.appendFieldIfPresent(dst, l, slot)
	}
	dst = append(dst, `,"address":`...)
	dst = m.appendFieldsAsObject(dst, l, postAddress[:])
	dst = append(dst, `,"tcpa":`...)
	dst = m.appendFieldsAsObject(dst, l, postConsent[:])
	for _, slot := range postRest {
		dst = m.appendFieldIfPresent(dst, l, slot)
	}
	for slot := FirstCustomSlot; slot < LeadFieldIndex(len(m.rules)); slot++ {
		dst = m.appendFieldIfPresent(dst, l, slot)
	}
	for i := range l.Extras {
		dst = append(dst, ',')
		dst = escape.AppendJSONString(dst, l.Extras[i].Name)
		dst = append(dst, ':')
		dst = l.Extras[i].Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

// appendFieldsAsObject appends a JSON object of these fields, without the absent ones.
func (m *FieldMapping) appendFieldsAsObject(dst []byte, l *Lead, slots []LeadFieldIndex) []byte {
	start := len(dst)
	for _, slot := range slots {
		dst = m.appendFieldIfPresent(dst, l, slot)
	}
	if len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{' // in place of the first member's comma
	return append(dst, '}')
}

// appendFieldIfPresent appends a comma and the field as a JSON member. It appends nothing if the
// field is absent.
func (m *FieldMapping) appendFieldIfPresent(dst []byte, l *Lead, slot LeadFieldIndex) []byte {
	if l.Values[slot].Kind == KindAbsent {
		return dst
	}
	dst = append(dst, ',')
	dst = append(dst, m.rules[slot].key...)
	return l.Values[slot].AppendJSON(dst)
}

// FieldPathInSupplierPost returns the path of a field in a post, such as lead.address.zip, for the
// errors of the answer. nameFromSuppliers is the name under which suppliers send the field. A
// campaign's own field is a direct member of lead.
func FieldPathInSupplierPost(nameFromSuppliers string) string {
	slot, ok := findKnownField(nameFromSuppliers)
	if ok {
		for _, s := range postAddress {
			if s == slot {
				return "lead.address." + nameFromSuppliers
			}
		}
		for _, s := range postConsent {
			if s == slot {
				return "lead.tcpa." + nameFromSuppliers
			}
		}
	}
	return "lead." + nameFromSuppliers
}

// AppendJSON appends the value as JSON. An absent value is null.
func (v FieldValue) AppendJSON(dst []byte) []byte {
	switch v.Kind {
	case KindAbsent:
		return append(dst, "null"...)
	case KindString:
		return escape.AppendJSONString(dst, v.Text)
	}
	return append(dst, v.Text...)
}

// BuyerPostMetadata has the values of a post to a buyer that are not fields of the lead.
type BuyerPostMetadata struct {
	Auction     AuctionID // zero: no auction; the lead's id takes its place
	Lead        LeadID
	Token       string // of the winning bid; empty: no auction
	Vertical    string
	SubVertical string
	Price       Money // that the buyer pays
	Currency    Currency
}

// BuyerPostRequest is one attempt to deliver a lead to a buyer. All attempts of one delivery carry the
// same key and the same bytes. So a buyer that already has the lead can repeat its answer and
// does not accept the lead twice.
type BuyerPostRequest struct {
	Buyer             BuyerID // whose connections the post uses
	Endpoint          OutboundEndpoint
	IdempotencyKey    string    // Idempotency-Key; empty: the endpoint supports no keys
	RequestID         RequestID // for the buyer's logs and ours
	Body              []byte    // read only, and not used after the attempt has returned
	Deadline          time.Time // end of the attempt
	Test              bool      // X-Pingpost-Test: it is a test lead
	CredentialRenewed bool      // the previous attempt renewed the credential: a second 401 is final

	Traceparent string // W3C's header of that name for a traced request; empty: not sent
}

// BuyerPostResult is the result of one attempt to deliver a lead to a buyer.
type BuyerPostResult struct {
	Verdict           PostAttemptVerdict
	Fault             OutboundRequestFault // why there was no usable answer; FaultNone if there was one
	Status            int                  // of the answer; 0 without one
	BuyerLeadID       string               // the buyer's own id of the lead: printable ASCII, at most 128 bytes; may be empty
	Code              string               // reject_reason or error of the answer, or a sign of rejection in an acceptance, such as status_rejected: printable ASCII, at most 64 bytes
	RetryAfter        time.Duration        // of a 429, at most a day; one second if the buyer gave none
	Elapsed           time.Duration
	CredentialRenewed bool // of a 401: the credential was renewed, so repeating the attempt at once may succeed

	// Final matters if an earlier attempt may have reached the buyer: it reports
	// whether this refusal is a refusal of the lead. A refusal that is not final
	// concerns the caller or the key, and leaves the result of the earlier attempt open.
	Final bool
}

// PostAttemptVerdict says whether the buyer has the lead after an attempt. For the next step, a
// delivery also uses Final, CredentialRenewed and RetryAfter of the result, and the earlier attempts.
// The numbers are in the log and never change.
type PostAttemptVerdict uint8

const (
	VerdictAccepted PostAttemptVerdict = 1 // the buyer has it
	VerdictRefused  PostAttemptVerdict = 2 // the buyer answered, and certainly does not have it
	VerdictNotSent  PostAttemptVerdict = 3 // nothing was sent: the buyer certainly does not have it
	VerdictUnknown  PostAttemptVerdict = 4 // the buyer may have it
	VerdictBusy     PostAttemptVerdict = 5 // the buyer certainly does not have it, and may take it after RetryAfter
)

var verdictNames = [...]string{
	"none", VerdictAccepted: "accepted", VerdictRefused: "refused", VerdictNotSent: "unreached",
	VerdictUnknown: "unknown", VerdictBusy: "busy",
}

func (v PostAttemptVerdict) String() string {
	return EnumName(verdictNames[:], int(v), "unknown_verdict")
}

// OutboundRequestFault is the technical cause of a missing or unusable answer to a ping, post or webhook. It is
// for operators: a label of metrics and logs with few values and without secrets. The numbers are
// in the log and never change.
type OutboundRequestFault uint8

const (
	FaultNone            OutboundRequestFault = 0
	FaultEndpoint        OutboundRequestFault = 1  // the configured address cannot be used
	FaultCredential      OutboundRequestFault = 2  // the credential or a secret is missing or unusable, or no token was available
	FaultResolve         OutboundRequestFault = 3  // the name has no address
	FaultForbidden       OutboundRequestFault = 4  // the address is in a network that is not trusted
	FaultConnect         OutboundRequestFault = 5  // no connection
	FaultTLS             OutboundRequestFault = 6  // the certificate is not trusted, or the handshake failed
	FaultConnectionLimit OutboundRequestFault = 7  // all connections allowed to this buyer are in use
	FaultTimeout         OutboundRequestFault = 8  // the deadline passed
	FaultBroken          OutboundRequestFault = 9  // the connection broke
	FaultTooLarge        OutboundRequestFault = 10 // the answer is over the limit
	FaultUnreadable      OutboundRequestFault = 11 // the answer is not HTTP, or not the required JSON object
	FaultMalformed       OutboundRequestFault = 12 // the answer is a JSON object, but not in the required form
)

var faultNames = [...]string{
	FaultNone: "none", FaultEndpoint: "endpoint", FaultCredential: "credential", FaultResolve: "resolve",
	FaultForbidden: "forbidden", FaultConnect: "connect", FaultTLS: "tls", FaultConnectionLimit: "crowded",
	FaultTimeout: "timeout", FaultBroken: "broken", FaultTooLarge: "too_large",
	FaultUnreadable: "unreadable", FaultMalformed: "malformed",
}

func (f OutboundRequestFault) String() string {
	return EnumName(faultNames[:], int(f), "unknown_fault")
}
