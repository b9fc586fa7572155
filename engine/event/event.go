package event

import (
	"errors"
	"fmt"

	"github.com/VictoriaMetrics/easyproto"
)

// Kind is the number of an event's kind. Numbers are never reused.
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

func (k Kind) String() string {
	switch k {
	case KindFounded:
		return "founded"
	case KindCatalogSet:
		return "catalog_set"
	case KindCredentialSet:
		return "credential_set"
	case KindSecretSet:
		return "secret_set"
	case KindLeadDecided:
		return "lead_decided"
	case KindPostAttempted:
		return "post_tried"
	case KindPostSettled:
		return "post_settled"
	case KindFundsMoved:
		return "funds_moved"
	case KindPauseSet:
		return "door_set"
	case KindListLoaded:
		return "list_loaded"
	case KindNamesGiven:
		return "names_given"
	case KindAuctionHeld:
		return "auction_held"
	case KindStatusChanged:
		return "status_changed"
	case KindWebhookAttempted:
		return "hook_tried"
	case KindWebhooksSwitched:
		return "hooks_switched"
	case KindLeadsErased:
		return "leads_erased"
	case KindUserSet:
		return "user_set"
	case KindAPITokenSet:
		return "api_token_set"
	}
	return fmt.Sprintf("kind_%d", uint32(k))
}

// version is the version of every kind that this program writes.
const version = 1

// Event is one event of the log.
type Event interface {
	Kind() Kind
	reset()
	marshal(mm openMessage)
	decodeField(fc *easyproto.FieldContext) bool
}

// ErrUnknown reports an unknown kind or version: a newer program wrote the log.
var ErrUnknown = errors.New("unknown kind or version of a log event: a newer release wrote the log; run that release")

// The envelope's fields: kind, version, and the event as a message.
const (
	envelopeKind    = 1
	envelopeVersion = 2
	envelopeEvent   = 3
)

// Append appends e's encoding to dst.
func Append(dst []byte, e Event) []byte {
	w := newRecordWriter(dst)
	mm := w.outermostMessage()
	mm.AppendUint64(envelopeKind, uint64(e.Kind()))
	mm.AppendUint64(envelopeVersion, version)
	e.marshal(mm.AppendMessage(envelopeEvent))
	return w.finishRecord()
}

// Decoder decodes events one after the other, into one value for each kind, so that a
// replay allocates nothing. It is not safe for concurrent use.
type Decoder struct {
	// ForReplay skips the fields that Apply does not use: the fields and the trail of
	// a lead or an auction, and the bids, which are more than half of the frame.
	ForReplay bool

	fields           easyproto.FieldContext
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

// Decode reads one event. The result and its strings and slices are valid until the next
// call, and as long as data is.
func (d *Decoder) Decode(data []byte) (Event, error) {
	var kind Kind
	var written uint32
	var body []byte
	err := decodeFields(&d.fields, data, func(fc *easyproto.FieldContext) (ok bool) {
		switch fc.FieldNum {
		case envelopeKind:
			var number uint32
			number, ok = fc.Uint32()
			kind = Kind(number)
		case envelopeVersion:
			written, ok = fc.Uint32()
		case envelopeEvent:
			body, ok = fc.MessageData()
		default:
			return true
		}
		return ok
	})
	if err != nil {
		return nil, fmt.Errorf("cannot decode the envelope of a log record: %w", err)
	}
	e := d.reusedEventOf(kind)
	if e == nil || written != version {
		return nil, fmt.Errorf("%w (%s, version %d)", ErrUnknown, kind, written)
	}
	e.reset()
	switch {
	case d.ForReplay && kind == KindLeadDecided:
		err = d.leadDecided.decodeForReplay(&d.fields, body)
	case d.ForReplay && kind == KindAuctionHeld:
		err = decodeFields(&d.fields, body, d.auctionHeld.decodeFieldForReplay)
	default:
		err = decodeFields(&d.fields, body, e.decodeField)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot decode a %s event of the log: %w", kind, err)
	}
	return e, nil
}

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

// decodeFields passes every field of a message to take, which reports whether the field has
// the right wire type. An embedded message reuses fc, because take no longer needs it and
// another one would be allocated.
func decodeFields(fc *easyproto.FieldContext, src []byte, decode func(fc *easyproto.FieldContext) bool) error {
	for len(src) > 0 {
		var err error
		if src, err = fc.NextField(src); err != nil {
			return err
		}
		if number := fc.FieldNum; !decode(fc) {
			return fmt.Errorf("field %d of the log record has the wrong wire type", number)
		}
	}
	return nil
}
