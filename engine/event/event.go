package event

import (
	"errors"
	"fmt"
)

// Kind is the number of an event type in the log. Numbers are never reused.
type Kind uint32

const (
	KindExchangeFounded               Kind = 1
	KindConfigActivated               Kind = 2
	KindCredentialAddedOrRevoked      Kind = 3
	KindSecretStoredOrDeleted         Kind = 4
	KindLeadDecided                   Kind = 5
	KindPostAttemptFailed             Kind = 6
	KindPostSettled                   Kind = 7
	KindBuyerFundsAdjusted            Kind = 8
	KindPausedOrResumed               Kind = 9
	KindSuppressionListContentLoaded  Kind = 10
	KindConfigObjectNumbersAssigned   Kind = 11
	KindPingAuctionCompleted          Kind = 12
	KindLeadStatusesChanged           Kind = 13
	KindWebhookAttempted              Kind = 14
	KindSupplierWebhooksTurnedOnOrOff Kind = 15
	KindPersonalDataOfLeadsErased     Kind = 16
	KindUserAccountChanged            Kind = 17
	KindAPITokenAddedOrRevoked        Kind = 18
	KindOperatorActionRecorded        Kind = 19
	KindAlertSettingsChanged          Kind = 20
	KindAlertChanged                  Kind = 21
	KindInvitationChanged             Kind = 22
	KindUserSecondFactorChangedOrUsed Kind = 23
	KindSavedReportChanged            Kind = 24
	KindReportMailEnded               Kind = 25
)

// eventKinds has each kind's name in descriptions, and a function that returns an empty event.
var eventKinds = [...]struct {
	name     string
	newEvent func() Event
}{
	KindExchangeFounded:               {"founded", newEvent[ExchangeFounded]},
	KindConfigActivated:               {"catalog_set", newEvent[ConfigActivated]},
	KindCredentialAddedOrRevoked:      {"credential_set", newEvent[CredentialAddedOrRevoked]},
	KindSecretStoredOrDeleted:         {"secret_set", newEvent[SecretStoredOrDeleted]},
	KindLeadDecided:                   {"lead_decided", newEvent[LeadDecided]},
	KindPostAttemptFailed:             {"post_tried", newEvent[PostAttemptFailed]},
	KindPostSettled:                   {"post_settled", newEvent[PostSettled]},
	KindBuyerFundsAdjusted:            {"funds_moved", newEvent[BuyerFundsAdjusted]},
	KindPausedOrResumed:               {"door_set", newEvent[CampaignOrBuyerPausedOrResumed]},
	KindSuppressionListContentLoaded:  {"list_loaded", newEvent[SuppressionListContentLoaded]},
	KindConfigObjectNumbersAssigned:   {"names_given", newEvent[ConfigObjectNumbersAssigned]},
	KindPingAuctionCompleted:          {"auction_held", newEvent[PingAuctionCompleted]},
	KindLeadStatusesChanged:           {"status_changed", newEvent[LeadStatusChangesDecided]},
	KindWebhookAttempted:              {"hook_tried", newEvent[WebhookAttemptedOrDecided]},
	KindSupplierWebhooksTurnedOnOrOff: {"hooks_switched", newEvent[SupplierWebhooksTurnedOnOrOff]},
	KindPersonalDataOfLeadsErased:     {"leads_erased", newEvent[PersonalDataOfLeadsErased]},
	KindUserAccountChanged:            {"user_set", newEvent[UserAccountChanged]},
	KindAPITokenAddedOrRevoked:        {"api_token_set", newEvent[APITokenAddedOrRevoked]},
	KindOperatorActionRecorded:        {"operator_action", newEvent[OperatorActionRecorded]},
	KindAlertSettingsChanged:          {"alert_settings_changed", newEvent[AlertSettingsChanged]},
	KindAlertChanged:                  {"alert_changed", newEvent[AlertOrNotificationChanged]},
	KindInvitationChanged:             {"invitation_set", newEvent[InvitationCreatedOrRevoked]},
	KindUserSecondFactorChangedOrUsed: {"second_factor_set", newEvent[UserSecondFactorChangedOrUsed]},
	KindSavedReportChanged:            {"saved_report_set", newEvent[SavedReportChanged]},
	KindReportMailEnded:               {"report_mail_ended", newEvent[ReportMailEnded]},
}

func newEvent[T any, E interface {
	*T
	Event
}]() Event {
	return E(new(T))
}

// isKnown reports whether this program has an event of the kind. Zero is no kind.
func (k Kind) isKnown() bool { return int(k) < len(eventKinds) && eventKinds[k].newEvent != nil }

func (k Kind) String() string {
	if !k.isKnown() {
		return fmt.Sprintf("kind_%d", uint32(k))
	}
	return eventKinds[k].name
}

// version is the version that this program writes with each event. The program decodes the versions from oldestVersion
// to version. In version 1, personal data is sealed with AES-256-GCM, and in version 2 with either cipher of leadkeys.
const (
	version       = 2
	oldestVersion = 1
)

// Event is a log record in memory: a pointer to one of the structs of this package.
type Event interface {
	Kind() Kind
	reset()
	message
}

// ErrUnknown reports that a log record has a kind or version that this program does not know,
// because a newer program wrote the log.
var ErrUnknown = errors.New("unknown kind or version of a log event: a newer release wrote the log; run that release")

// recordEnvelope is the outermost protobuf message of a log record: the event's kind, the version
// of that kind, and the encoded event.
type recordEnvelope struct {
	kind    Kind
	version uint32
	event   []byte // encoded
}

func (v *recordEnvelope) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeUint32(pb, envelopeKind, &v.kind)
	encodeOrDecodeUint32(pb, envelopeVersion, &v.version)
	encodeOrDecodeBytes(pb, envelopeEvent, &v.event)
}

const (
	envelopeKind    = 1
	envelopeVersion = 2
	envelopeEvent   = 3
)

// AppendRecord appends the log record of e to dst. Decoder.Decode reads it.
func AppendRecord(dst []byte, e Event) []byte {
	pb := takeEncoderFromPool(dst)
	pb.appendUint64Field(envelopeKind, uint64(e.Kind()))
	pb.appendUint64Field(envelopeVersion, version)
	encodeOrDecodeMessage(pb, envelopeEvent, e, true)
	return pb.finishAndReturnToPool()
}

// Decoder decodes log records one after the other. It reuses one struct for each kind, so that a
// replay allocates almost no memory. It is not safe for concurrent use.
type Decoder struct {
	// ForReplay skips fields of leads and auctions that Apply does not use, such as the
	// values of a lead, the trail and the bids. They are more than half of a record.
	ForReplay bool

	codec    protobufCodec
	envelope recordEnvelope
	reused   [len(eventKinds)]Event
}

// Decode decodes the log record. The event, its strings and its slices are valid until the
// next call, and only while record is unchanged.
func (d *Decoder) Decode(record []byte) (Event, error) {
	d.envelope = recordEnvelope{}
	d.codec.forReplay = d.ForReplay
	if err := d.codec.decodeMessage(record, &d.envelope); err != nil {
		return nil, fmt.Errorf("cannot decode the envelope of a log record: %w", err)
	}
	kind, written := d.envelope.kind, d.envelope.version
	e := d.reusedEventIfKnown(kind)
	if e == nil || written < oldestVersion || written > version {
		return nil, fmt.Errorf("%w (%s, version %d)", ErrUnknown, kind, written)
	}
	e.reset()
	var err error
	if lead, ok := e.(*LeadDecided); ok && d.ForReplay {
		err = lead.decodeForReplay(&d.codec, d.envelope.event)
	} else {
		err = d.codec.decodeMessage(d.envelope.event, e)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot decode a %s event of the log: %w", kind, err)
	}
	return e, nil
}

// reusedEventIfKnown returns the decoder's struct for the kind, or nil for an unknown kind.
func (d *Decoder) reusedEventIfKnown(kind Kind) Event {
	if !kind.isKnown() {
		return nil
	}
	if d.reused[kind] == nil {
		d.reused[kind] = eventKinds[kind].newEvent()
	}
	return d.reused[kind]
}
