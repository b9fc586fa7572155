package config

import "time"

// Report is what operators' reports are made from.
type Report struct {
	Keep *Duration `json:"keep"` // how long; 0: there is none; 90 days by default
}

func (r *Report) fill() { r.Keep = r.Keep.orElse(90 * day) }

// ReportSettings are the same, judged.
type ReportSettings struct {
	Keep time.Duration `key:"report.keep"`
}

func (c *compiler) report(at place, r *Report) ReportSettings {
	if keep := r.Keep.span(); keep != 0 && (keep < day || keep > 3650*day) {
		c.fail(at.key("keep"), "is out of range; give 1d to 3650d, or 0s for no report")
	}
	return ReportSettings{r.Keep.span()}
}
