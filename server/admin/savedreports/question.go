package savedreports

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pingpost/api/errcode"
	"pingpost/engine/savedreport"
	"pingpost/report"
	"pingpost/server/admin/alerts"
	"pingpost/server/admin/payload"
)

const (
	maxName    = 100 // bytes of a report's name
	maxFilter  = 200 // bytes of the value of a filter
	maxColumns = 100
)

// filterDimensions are the dimensions that a query can limit to one value.
var filterDimensions = []report.Dimension{report.BySupplier, report.ByBuyer, report.ByCampaign, report.BySource, report.ByState, report.ByReason}

// NewQuestion returns the question of a saved query at a time, with the period that its name has then.
// Faults are the errors of the query's members.
func NewQuestion(q *savedreport.Query, now time.Time, zone *time.Location) (question *report.Question, faults payload.FieldErrors) {
	question = &report.Question{Only: map[report.Dimension]string{}, Zone: zone, Since: true, Columns: q.Columns, Totals: q.Totals}
	for i, name := range q.By {
		dimension, ok := report.ParseDimension(name)
		faults.AddIf(!ok, fmt.Sprintf("query.by[%d]", i), errcode.FieldNotAllowedValue, "one of "+report.DimensionNames())
		question.By = append(question.By, dimension)
	}
	for _, name := range slices.Sorted(maps.Keys(q.Filters)) {
		dimension, ok := report.ParseDimension(name)
		ok = ok && slices.Contains(filterDimensions, dimension)
		field := "query.filters." + alerts.RemoveUnprintableAndCut(name, maxFilter)
		faults.AddIf(!ok, field, errcode.FieldUnknown, "one of "+strings.Join(filterNames(), ", "))
		alerts.AddErrorUnlessPrintableLine(&faults, field, q.Filters[name], maxFilter)
		question.Only[dimension] = q.Filters[name]
	}
	period, known := payload.NamedPeriod(q.Period, now, zone)
	faults.AddIf(!known, "query.period", errcode.FieldNotAllowedValue, "one of "+payload.PeriodNames)
	question.From, question.To = period.From, period.To
	faults.AddIf(len(q.Columns) > maxColumns, "query.columns", errcode.FieldOutOfRange, fmt.Sprintf("at most %d columns", maxColumns))
	if len(faults) > 0 {
		return question, faults
	}
	var invalid *report.InvalidQuestionError
	if errors.As(question.Validate(), &invalid) {
		faults.AddIf(true, "query."+invalid.Field, errcode.FieldNotAllowedValue, invalid.Expected)
	}
	return question, faults
}

func filterNames() (names []string) {
	for _, dimension := range filterDimensions {
		names = append(names, dimension.String())
	}
	return names
}

// addScheduleErrors checks a schedule, whose members that its frequency does not use must be absent.
func addScheduleErrors(faults *payload.FieldErrors, s *savedreport.Schedule) {
	isWeekly, isMonthly := s.Frequency == savedreport.Weekly, s.Frequency == savedreport.Monthly
	faults.AddIf(s.Frequency != savedreport.Daily && !isWeekly && !isMonthly, "schedule.frequency", errcode.FieldNotAllowedValue, "daily, weekly or monthly")
	isWeekday := slices.Contains(savedreport.Weekdays[:], s.Weekday)
	faults.AddIf(isWeekly && !isWeekday, "schedule.weekday", errcode.FieldNotAllowedValue, "one of "+strings.Join(savedreport.Weekdays[:], ", "))
	faults.AddIf(!isWeekly && s.Weekday != "", "schedule.weekday", errcode.FieldNotAllowedValue, "nothing: only a weekly schedule has a weekday")
	faults.AddIf(isMonthly && (s.Day < 1 || s.Day > 31), "schedule.day", errcode.FieldOutOfRange, "1 to 31; in a shorter month it is the last day")
	faults.AddIf(!isMonthly && s.Day != 0, "schedule.day", errcode.FieldNotAllowedValue, "nothing: only a monthly schedule has a day")
	_, ok := savedreport.ParseTimeOfDay(s.Time)
	faults.AddIf(!ok, "schedule.time", errcode.FieldInvalidFormat, "a time from 00:00 to 23:59, such as 08:30")
	addRecipientErrors(faults, "schedule.recipients", s.Recipients)
}

func addRecipientErrors(faults *payload.FieldErrors, field string, recipients []string) {
	faults.AddIf(len(recipients) == 0 || len(recipients) > savedreport.MaxRecipients, field, errcode.FieldOutOfRange, fmt.Sprintf("1 to %d e-mail addresses", savedreport.MaxRecipients))
	for i, to := range recipients[:min(len(recipients), savedreport.MaxRecipients)] {
		faults.AddIf(!alerts.IsMailAddress(to), fmt.Sprintf("%s[%d]", field, i), errcode.FieldInvalidFormat, "an e-mail address")
	}
}
