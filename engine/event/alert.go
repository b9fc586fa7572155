package event

// AlertSettingsChanged replaces the alert rules, the channels of notifications and the silences.
type AlertSettingsChanged struct {
	Document []byte // JSON; the secrets of channels are encrypted in it
	At       int64
	By       string // requesting operator; empty: no operator
}

func (*AlertSettingsChanged) Kind() Kind { return KindAlertSettingsChanged }
func (a *AlertSettingsChanged) reset()   { *a = AlertSettingsChanged{} }

func (a *AlertSettingsChanged) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeBytes(pb, 1, &a.Document)
	encodeOrDecodeFixed64(pb, 2, &a.At)
	encodeOrDecodeString(pb, 3, &a.By)
}

// AlertOrNotificationTransition says what happened to an alert or to a notification of it. The log stores these
// numbers, so they never change.
type AlertOrNotificationTransition uint8

const (
	AlertFired     AlertOrNotificationTransition = 1 // the rule's condition holds
	AlertResolved  AlertOrNotificationTransition = 2 // it no longer holds
	AlertAnnounced AlertOrNotificationTransition = 3 // the alert still fires, and its first notification is due now

	NotificationSent    AlertOrNotificationTransition = 4
	NotificationFailed  AlertOrNotificationTransition = 5 // after the last attempt
	NotificationDropped AlertOrNotificationTransition = 6 // the queue was full, or the channel was removed
)

var alertTransitionNames = [...]string{
	AlertFired: "fired", AlertResolved: "resolved", AlertAnnounced: "announced",
	NotificationSent: "notification_sent", NotificationFailed: "notification_failed", NotificationDropped: "notification_dropped",
}

func (t AlertOrNotificationTransition) String() string {
	if t == 0 || int(t) >= len(alertTransitionNames) {
		return "invalid"
	}
	return alertTransitionNames[t]
}

// AlertOrNotificationChanged records that an alert fired, was announced or resolved, or how a
// notification of such a change ended.
type AlertOrNotificationChanged struct {
	Transition AlertOrNotificationTransition
	Rule       string
	Subject    string   // id of the buyer, campaign or supplier; empty: the exchange
	Value      int64    // millionths of the rule's unit
	Threshold  int64    // millionths of the rule's unit
	Note       string   // details for the operator, such as the cap or the currency
	Channels   []string // that get a notification of this change
	Of         uint64   // a notification's change: its number in the history of alerts
	Error      string   // of the last attempt to send the notification
	At         int64
}

func (*AlertOrNotificationChanged) Kind() Kind { return KindAlertChanged }
func (a *AlertOrNotificationChanged) reset()   { *a = AlertOrNotificationChanged{} }

func (a *AlertOrNotificationChanged) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeEnum(pb, 1, &a.Transition)
	encodeOrDecodeString(pb, 2, &a.Rule)
	encodeOrDecodeString(pb, 3, &a.Subject)
	encodeOrDecodeZigzag(pb, 4, &a.Value)
	encodeOrDecodeZigzag(pb, 5, &a.Threshold)
	encodeOrDecodeString(pb, 6, &a.Note)
	encodeOrDecodeStringList(pb, 7, &a.Channels)
	encodeOrDecodeUint64(pb, 8, &a.Of)
	encodeOrDecodeString(pb, 9, &a.Error)
	encodeOrDecodeFixed64(pb, 10, &a.At)
}
