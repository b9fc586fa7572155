package event

// SavedReportChanged sets or removes a saved report.
type SavedReportChanged struct {
	ID       string
	Document []byte // JSON; empty: the report is removed
	At       int64
	By       string // requesting operator; empty: no operator
}

func (*SavedReportChanged) Kind() Kind { return KindSavedReportChanged }
func (s *SavedReportChanged) reset()   { *s = SavedReportChanged{} }

func (s *SavedReportChanged) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeString(pb, 1, &s.ID)
	encodeOrDecodeBytes(pb, 2, &s.Document)
	encodeOrDecodeFixed64(pb, 3, &s.At)
	encodeOrDecodeString(pb, 4, &s.By)
}

// ReportMailOutcome says how the e-mail of a saved report ended. The log stores these numbers, so they
// never change.
type ReportMailOutcome uint8

const (
	ReportMailSent   ReportMailOutcome = 1 // the SMTP server accepted it for all recipients
	ReportMailFailed ReportMailOutcome = 2 // after the last attempt
)

var reportMailOutcomeNames = [...]string{ReportMailSent: "sent", ReportMailFailed: "failed"}

func (o ReportMailOutcome) String() string {
	if o == 0 || int(o) >= len(reportMailOutcomeNames) {
		return "invalid"
	}
	return reportMailOutcomeNames[o]
}

// ReportMailEnded records that the e-mail of a saved report was sent, or that its last attempt failed.
type ReportMailEnded struct {
	Report    string
	Moment    int64 // of the schedule, or the time of the operator's request
	Outcome   ReportMailOutcome
	Requested bool // an operator requested it; the schedule did not
	Error     string
	At        int64
	By        string // requesting operator; empty: no operator
}

func (*ReportMailEnded) Kind() Kind { return KindReportMailEnded }
func (m *ReportMailEnded) reset()   { *m = ReportMailEnded{} }

func (m *ReportMailEnded) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeString(pb, 1, &m.Report)
	encodeOrDecodeFixed64(pb, 2, &m.Moment)
	encodeOrDecodeEnum(pb, 3, &m.Outcome)
	encodeOrDecodeBool(pb, 4, &m.Requested)
	encodeOrDecodeString(pb, 5, &m.Error)
	encodeOrDecodeFixed64(pb, 6, &m.At)
	encodeOrDecodeString(pb, 7, &m.By)
}
