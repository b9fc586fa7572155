package market

// LeadStatus is the state of a lead as its supplier and its buyer see it. The numbers are in the log
// and never change.
type LeadStatus uint8

const (
	StatusOpen      LeadStatus = 0 // posted to a buyer's endpoint, result unknown
	StatusAccepted  LeadStatus = 1 // a buyer was assigned
	StatusUnmatched LeadStatus = 2 // unsold

	// StatusContacted and those after it are the buyer's reports on an accepted lead.
	StatusContacted LeadStatus = 3
	StatusQualified LeadStatus = 4
	StatusSold      LeadStatus = 5
	StatusReturned  LeadStatus = 6
	statusEnd       LeadStatus = 7
)

var statusNames = [statusEnd]string{"OPEN", "ACCEPTED", "UNMATCHED", "contacted", "qualified", "sold", "returned"}

func (s LeadStatus) String() string { return EnumName(statusNames[:], int(s), "unknown") }

// ParseReportedStatus returns the status with this name. The bool is false if a buyer cannot
// report the status.
func ParseReportedStatus(name string) (status LeadStatus, reportable bool) {
	for s := StatusContacted; s < statusEnd; s++ {
		if statusNames[s] == name {
			return s, true
		}
	}
	return 0, false
}

// IsReportedByBuyer reports whether s is a status that a buyer reports, such as contacted or returned.
func (s LeadStatus) IsReportedByBuyer() bool { return s >= StatusContacted && s < statusEnd }

// CanReportChangeTo reports whether a buyer's report may change s to next. Reports only go
// forward: a sold lead cannot become contacted, and a return is final.
func (s LeadStatus) CanReportChangeTo(next LeadStatus) bool {
	switch s {
	case StatusAccepted, StatusContacted, StatusQualified, StatusSold:
		return next > s && next >= StatusContacted && next < statusEnd
	}
	return false
}

// WebhookTypeOfReport returns the type of webhook that a buyer's report of status s triggers, or
// WebhookNone if a buyer cannot report s.
func (s LeadStatus) WebhookTypeOfReport() WebhookType {
	switch s {
	case StatusContacted:
		return WebhookContacted
	case StatusQualified:
		return WebhookQualified
	case StatusSold:
		return WebhookSold
	case StatusReturned:
		return WebhookReturned
	}
	return WebhookNone
}

// DeliveryState is the state of a lead's delivery to its buyer's endpoint. The numbers are in the
// log and never change.
type DeliveryState uint8

const (
	DeliveryNone      DeliveryState = 0 // only recorded: the buyer has no endpoint
	DeliveryPending   DeliveryState = 1 // an attempt is running or will follow
	DeliveryDone      DeliveryState = 2 // the buyer acknowledged it
	DeliveryUnknown   DeliveryState = 3 // the attempts are used up; an operator decides
	DeliveryFailed    DeliveryState = 4 // the buyer refused it
	DeliveryConfirmed DeliveryState = 5 // operator: the buyer has it
	DeliveryReleased  DeliveryState = 6 // operator: the buyer does not have it
)

var deliveryNames = [...]string{"none", "pending", "delivered", "unknown", "failed", "confirmed", "released"}

func (d DeliveryState) String() string { return EnumName(deliveryNames[:], int(d), "invalid") }
