package market

// Status is where a lead stands. Numbers are in the log and never change.
type Status uint8

const (
	StatusOpen      Status = 0 // with a buyer's endpoint, outcome not known
	StatusAccepted  Status = 1 // a buyer was assigned
	StatusUnmatched Status = 2 // no buyer took it

	// What its buyer reports of an accepted lead.
	StatusContacted Status = 3
	StatusQualified Status = 4
	StatusSold      Status = 5
	StatusReturned  Status = 6
	statusEnd       Status = 7
)

var statusNames = [statusEnd]string{"OPEN", "ACCEPTED", "UNMATCHED", "contacted", "qualified", "sold", "returned"}

func (s Status) String() string {
	if s >= statusEnd {
		return "unknown"
	}
	return statusNames[s]
}

// ParseReport reads a status that a buyer may report.
func ParseReport(name string) (Status, bool) {
	for s := StatusContacted; s < statusEnd; s++ {
		if statusNames[s] == name {
			return s, true
		}
	}
	return 0, false
}

// Reported tells whether a buyer's report has brought a lead to s.
func (s Status) Reported() bool { return s >= StatusContacted && s < statusEnd }

// MayBecome tells whether a buyer's report leads from s to next. Reports go
// forward only: what was sold cannot be merely contacted any more, and nothing
// comes after a return.
func (s Status) MayBecome(next Status) bool {
	switch s {
	case StatusAccepted, StatusContacted, StatusQualified, StatusSold:
		return next > s && next >= StatusContacted && next < statusEnd
	}
	return false
}

// Hook is what the supplier is told when a lead comes to s by a report.
func (s Status) Hook() HookType {
	switch s {
	case StatusContacted:
		return HookContacted
	case StatusQualified:
		return HookQualified
	case StatusSold:
		return HookSold
	case StatusReturned:
		return HookReturned
	}
	return HookNone
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
