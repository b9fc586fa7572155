package event

import (
	"errors"
	"fmt"
)

// Kind is the number of an event type in the log. Numbers are never reused.
type Kind uint32

const (
	KindFounded          Kind = 1
	KindCatalogSet       Kind = 2
	KindCredentialSet    Kind = 3
	KindSecretSet        Kind = 4
	KindLeadDecided      Kind = 5
	KindPostAttempted    Kind = 6
	KindPostSettled      Kind = 7
	KindFundsMoved       Kind = 8
	KindPauseSet         Kind = 9
	KindListLoaded       Kind = 10
	KindNamesGiven       Kind = 11
	KindAuctionHeld      Kind = 12
	KindStatusChanged    Kind = 13
	KindWebhookAttempted Kind = 14
	KindWebhooksSwitched Kind = 15
	KindLeadsErased      Kind = 16
	KindUserSet          Kind = 17
	KindAPITokenSet      Kind = 18
)

var kindNames = [...]string{
	"", "founded", "catalog_set", "credential_set", "secret_set", "lead_decided", "post_tried",
	"post_settled", "funds_moved", "door_set", "list_loaded", "names_given", "auction_held",
	"status_changed", "hook_tried", "hooks_switched", "leads_erased", "user_set", "api_token_set",
}

func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind_%d", uint32(k))
	}
	return kindNames[k]
}

// version is the version that this program writes for each kind of event.
const version = 1

// Event is a log record in memory: a pointer to one of the structs of this package.
type Event interface {
	Kind() Kind
	reset()
	message
}

// ErrUnknown reports that a log record has a kind or version that this program does not know,
// because a newer program wrote the log.
var ErrUnknown = errors.New("unknown kind or version of a log event: a newer release wrote the log; run that release")

// recordEnvelope is the outermost protobuf message of a log record: the kind, its version, and
// the encoded event.
type recordEnvelope struct {
	kind    Kind
	version uint32
	event   []byte // encoded
}

func (v *recordEnvelope) encodeOrDecode(pb *protobufCodec) {
	uint32Field(pb, envelopeKind, &v.kind)
	uint32Field(pb, envelopeVersion, &v.version)
	bytesField(pb, envelopeEvent, &v.event)
}

const (
	envelopeKind    = 1
	envelopeVersion = 2
	envelopeEvent   = 3
)

// Append appends the log record of e to dst. Decoder.Decode reads it.
func Append(dst []byte, e Event) []byte {
	pb := newEncoder(dst)
	pb.appendUint64(envelopeKind, uint64(e.Kind()))
	pb.appendUint64(envelopeVersion, version)
	messageField(pb, envelopeEvent, e, true)
	return pb.finishEncoding()
}

// Decoder decodes log records one after the other. It reuses one struct for each kind, so that a
// replay allocates no memory. It is not safe for concurrent use.
type Decoder struct {
	// ForReplay skips the fields that Apply does not use: the fields and the trail of
	// a lead or an auction, and the bids, which are more than half of the frame.
	ForReplay bool

	codec            protobufCodec
	envelope         recordEnvelope
	founded          Founded
	catalogSet       CatalogSet
	credentialSet    CredentialSet
	secretSet        SecretSet
	leadDecided      LeadDecided
	postAttempted    PostAttempted
	postSettled      PostSettled
	fundsMoved       BuyerFundsMoved
	pauseSet         PauseSet
	listLoaded       SuppressionListLoaded
	namesGiven       NamesNumbered
	auctionHeld      AuctionHeld
	statusChanged    StatusChanged
	webhookAttempted WebhookAttempted
	webhooksSwitched WebhooksSwitched
	leadsErased      LeadsErased
	userSet          UserSet
	apiTokenSet      APITokenSet
}

// Decode decodes the log record data. The event, its strings and its slices are valid until the
// next call, and only while data is unchanged.
func (d *Decoder) Decode(data []byte) (Event, error) {
	d.envelope = recordEnvelope{}
	d.codec.forReplay = d.ForReplay
	if err := d.codec.decodeMessage(data, &d.envelope); err != nil {
		return nil, fmt.Errorf("cannot decode the envelope of a log record: %w", err)
	}
	kind, written := d.envelope.kind, d.envelope.version
	e := d.reusedEventOf(kind)
	if e == nil || written != version {
		return nil, fmt.Errorf("%w (%s, version %d)", ErrUnknown, kind, written)
	}
	e.reset()
	var err error
	if d.ForReplay && kind == KindLeadDecided {
		err = d.leadDecided.decodeForReplay(&d.codec, d.envelope.event)
	} else {
		err = d.codec.decodeMessage(d.envelope.event, e)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot decode a %s event of the log: %w", kind, err)
	}
	return e, nil
}

// reusedEventOf returns the decoder's struct for the kind, or nil for an unknown kind.
func (d *Decoder) reusedEventOf(kind Kind) Event {
	switch kind {
	case KindFounded:
		return &d.founded
	case KindCatalogSet:
		return &d.catalogSet
	case KindCredentialSet:
		return &d.credentialSet
	case KindSecretSet:
		return &d.secretSet
	case KindLeadDecided:
		return &d.leadDecided
	case KindPostAttempted:
		return &d.postAttempted
	case KindPostSettled:
		return &d.postSettled
	case KindFundsMoved:
		return &d.fundsMoved
	case KindPauseSet:
		return &d.pauseSet
	case KindListLoaded:
		return &d.listLoaded
	case KindNamesGiven:
		return &d.namesGiven
	case KindAuctionHeld:
		return &d.auctionHeld
	case KindStatusChanged:
		return &d.statusChanged
	case KindWebhookAttempted:
		return &d.webhookAttempted
	case KindWebhooksSwitched:
		return &d.webhooksSwitched
	case KindLeadsErased:
		return &d.leadsErased
	case KindUserSet:
		return &d.userSet
	case KindAPITokenSet:
		return &d.apiTokenSet
	}
	return nil
}
