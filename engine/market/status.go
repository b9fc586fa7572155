package market

// Status is where a lead stands. Numbers are in the log and never change.
type Status uint8

const (
	StatusOpen      Status = 0 // with a buyer's endpoint, outcome not known
	StatusAccepted  Status = 1 // a buyer was assigned
	StatusUnmatched Status = 2 // no buyer took it
)

func (s Status) String() string {
	switch s {
	case StatusOpen:
		return "OPEN"
	case StatusAccepted:
		return "ACCEPTED"
	case StatusUnmatched:
		return "UNMATCHED"
	}
	return "unknown"
}

// Delivery is what is known of a lead's way to its buyer's endpoint. Numbers
// are in the log and never change.
type Delivery uint8

const (
	DeliveryNone      Delivery = 0 // recorded alone: the buyer has no endpoint
	DeliveryPending   Delivery = 1 // being posted or between two tries
	DeliveryDone      Delivery = 2 // the buyer acknowledged it
	DeliveryUnknown   Delivery = 3 // the tries are used up; an operator decides
	DeliveryFailed    Delivery = 4 // the buyer refused it
	DeliveryConfirmed Delivery = 5 // an operator found that the buyer has it
	DeliveryReleased  Delivery = 6 // an operator took it back
)

func (d Delivery) String() string {
	names := [...]string{"none", "pending", "delivered", "unknown", "failed", "confirmed", "released"}
	if int(d) >= len(names) {
		return "invalid"
	}
	return names[d]
}
