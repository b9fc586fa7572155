package reportmail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/savedreport"
	"pingpost/internal/must"
	"pingpost/outbound/mail"
	"pingpost/outbound/notify"
)

// office is an exchange's part of the tests: the table, the log of e-mails and an SMTP server.
type office struct {
	table savedreport.Table
	zone  *time.Location
	now   func() int64

	mu        sync.Mutex // guards the following fields while a service sends
	attempts  int
	sent      []string // report and moment, in the order of the acceptance
	ids       []string // of the accepted messages
	ended     []event.ReportMailEnded
	send      func(ctx context.Context, message *mail.Message) error // nil: accepts
	unwritten bool                                                   // the log fails
}

func newOffice(zone *time.Location) *office {
	return &office{zone: zone, now: func() int64 { return time.Now().UnixNano() }}
}

// setSend replaces the SMTP server; nil accepts all messages.
func (o *office) setSend(send func(context.Context, *mail.Message) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send = send
}

// outcome returns the accepted messages and the records so far.
func (o *office) outcome() (sent []string, ended []event.ReportMailEnded) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.sent), slices.Clone(o.ended)
}

func (o *office) set(id string, s *savedreport.Schedule) {
	saved := savedreport.SavedReport{Name: id, Query: savedreport.Query{Period: "yesterday"}, Schedule: s}
	o.table.ApplyChange(&event.SavedReportChanged{ID: id, Document: saved.Encode(), At: o.now()})
}

// newService returns a service on the office's table, as after a start of the process.
func (o *office) newService() *Service {
	return New(Options{
		Table: &o.table,
		RecordMail: func(e *event.ReportMailEnded) error {
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.unwritten {
				return errors.New("the log has failed")
			}
			o.table.ApplyMail(e)
			o.ended = append(o.ended, *e)
			return nil
		},
		Compose: func(_ context.Context, entry *savedreport.Entry, moment int64) (*mail.Message, error) {
			return &mail.Message{ID: messageID("x", entry.ID, moment), Subject: fmt.Sprintf("%s %s", entry.ID, time.Unix(0, moment).UTC().Format(time.RFC3339))}, nil
		},
		Sender: func() (*notify.EmailDestination, error) {
			return &notify.EmailDestination{From: "reports@example.com"}, nil
		},
		Send: func(ctx context.Context, _ mail.Server, message *mail.Message) error {
			o.mu.Lock()
			o.attempts++
			send := o.send
			o.mu.Unlock()
			if send != nil {
				if err := send(ctx, message); err != nil {
					return err
				}
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			o.sent, o.ids = append(o.sent, message.Subject), append(o.ids, message.ID)
			return nil
		},
		Now: func() int64 { return o.now() }, Zone: o.zone, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
}

func daily(at string) *savedreport.Schedule {
	return &savedreport.Schedule{Frequency: savedreport.Daily, Time: at, Recipients: []string{"a@example.com"}}
}

// A year with restarts, outages and clock changes: at each look, the latest moment since the last look
// is sent once, and no other one.
func TestYearOfSchedules(t *testing.T) {
	schedules := map[string]*savedreport.Schedule{
		"daily":   daily("02:30"),
		"twice":   daily("01:30"),
		"weekly":  {Frequency: savedreport.Weekly, Weekday: "sunday", Time: "02:00"},
		"monthly": {Frequency: savedreport.Monthly, Day: 31, Time: "23:59"},
	}
	rapid.Check(t, func(rt *rapid.T) {
		zone := must.Value(time.LoadLocation(rapid.SampledFrom([]string{"America/New_York", "Europe/Berlin", "UTC"}).Draw(rt, "zone")))(rt)
		seconds := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 3600), rapid.IntRange(3600, 24*3600), rapid.IntRange(24*3600, 70*24*3600)), 20, 60).Draw(rt, "pauses")
		restarts := rapid.SliceOfN(rapid.Bool(), len(seconds), len(seconds)).Draw(rt, "restarts")
		synctest.Test(t, func(*testing.T) {
			o, now := newOffice(zone), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).UnixNano()
			o.now = func() int64 { return now }
			moments := map[string][]int64{}
			for id, s := range schedules {
				o.set(id, s)
				for at := now; at < now+2*366*24*int64(time.Hour); {
					at = s.NextAfter(at, zone)
					moments[id] = append(moments[id], at)
				}
			}
			s := o.newService()
			for i, pause := range seconds {
				if restarts[i] {
					s.Close()
					s = o.newService()
				}
				now += int64(pause) * int64(time.Second)
				o.mu.Lock()
				o.sent = nil
				o.mu.Unlock()
				s.QueueDueMails(now)
				synctest.Wait()
				s.QueueDueMails(now)
				synctest.Wait()
				var want []string
				for id := range schedules {
					passed := 0
					for passed < len(moments[id]) && moments[id][passed] <= now {
						passed++
					}
					if passed > 0 {
						want = append(want, id+" "+time.Unix(0, moments[id][passed-1]).UTC().Format(time.RFC3339))
					}
					moments[id] = moments[id][passed:]
				}
				slices.Sort(want)
				sent, _ := o.outcome()
				slices.Sort(sent)
				if !slices.Equal(sent, want) {
					rt.Errorf("at %s: sent %q, want %q", time.Unix(0, now).UTC(), sent, want)
				}
			}
			s.Close()
		})
	})
}

// The service waits for the moment itself, and sends at it.
func TestSentAtMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(time.UTC)
		o.set("r", daily("08:00")) // a bubble begins at midnight
		s := o.newService()
		s.Start()
		time.Sleep(8*time.Hour - time.Nanosecond)
		synctest.Wait()
		if sent, _ := o.outcome(); len(sent) != 0 {
			t.Errorf("sent early: %q", sent)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		time.Sleep(47 * time.Hour)
		synctest.Wait()
		s.Close()
		if sent, _ := o.outcome(); len(sent) != 2 || !strings.HasSuffix(sent[1], "-02T08:00:00Z") {
			t.Errorf("%q", sent)
		}
	})
}

// If the log fails after the SMTP server's acceptance, the same process does not repeat the e-mail. A
// restart does, with the same Message-ID.
func TestUnrecordedMailRepeatsWithSameID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(time.UTC)
		o.set("r", daily("08:00"))
		o.unwritten = true
		s := o.newService()
		time.Sleep(9 * time.Hour)
		for range 3 {
			s.QueueDueMails(o.now())
			synctest.Wait()
		}
		s.Close()
		o.mu.Lock()
		o.unwritten = false
		o.mu.Unlock()
		s = o.newService()
		s.QueueDueMails(o.now())
		synctest.Wait()
		s.Close()
		o.mu.Lock()
		defer o.mu.Unlock()
		if len(o.ids) != 2 || o.ids[0] != o.ids[1] || len(o.ended) != 1 {
			t.Errorf("ids %q, records %+v", o.ids, o.ended)
		}
	})
}

// A server that fails gets attempts with growing pauses until the deadline. Then the failure is recorded,
// and the next moment is sent.
func TestFailingServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(time.UTC)
		o.set("r", daily("08:00"))
		o.setSend(func(context.Context, *mail.Message) error {
			return errors.New("550 refused\r\nby policy")
		})
		s := o.newService()
		s.Start()
		time.Sleep(8*time.Hour + time.Minute)
		synctest.Wait()
		if p := s.MailAttemptStates()["r"]; !p.IsWaiting || p.LastError != "550 refused  by policy" || p.FailingSince.IsZero() {
			t.Errorf("%+v", p)
		}
		time.Sleep(8 * time.Hour)
		synctest.Wait()
		if _, ended := o.outcome(); len(ended) != 1 || ended[0].Outcome != event.ReportMailFailed || ended[0].Error != "550 refused  by policy" {
			t.Errorf("%+v", ended)
		}
		o.mu.Lock()
		if o.attempts < 20 || o.attempts > 40 {
			t.Errorf("%d attempts", o.attempts)
		}
		o.mu.Unlock()
		o.setSend(nil)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		s.Close()
		if sent, ended := o.outcome(); len(sent) != 1 || len(ended) != 2 || ended[1].Outcome != event.ReportMailSent {
			t.Errorf("%q, %+v", sent, ended)
		}
	})
}

// A server that hangs blocks neither another report nor the stop. The restart sends the rest.
func TestHangingServerBlocksNoStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(time.UTC)
		o.set("hangs", daily("08:00"))
		o.set("works", daily("08:00"))
		o.setSend(func(ctx context.Context, message *mail.Message) error {
			if strings.HasPrefix(message.Subject, "hangs") {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		s := o.newService()
		s.Start()
		time.Sleep(8*time.Hour + time.Second)
		synctest.Wait()
		if sent, _ := o.outcome(); len(sent) != 1 {
			t.Errorf("%q", sent)
		}
		before := time.Now()
		s.Close()
		if took := time.Since(before); took != 0 {
			t.Errorf("the stop took %s of virtual time", took)
		}
		o.setSend(nil)
		s = o.newService()
		s.Start()
		synctest.Wait()
		s.Close()
		if sent, _ := o.outcome(); len(sent) != 2 || !strings.HasPrefix(sent[1], "hangs") {
			t.Errorf("%q", sent)
		}
	})
}

// Many reports that hang make few attempts at once.
func TestAttemptsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(time.UTC)
		running, most := 0, 0
		o.setSend(func(ctx context.Context, _ *mail.Message) error {
			o.mu.Lock()
			running++
			most = max(most, running)
			o.mu.Unlock()
			<-ctx.Done()
			o.mu.Lock()
			running--
			o.mu.Unlock()
			return ctx.Err()
		})
		for i := range savedreport.MaxReports {
			o.set(fmt.Sprint("r", i), daily("08:00"))
		}
		s := o.newService()
		s.Start()
		time.Sleep(8*time.Hour + time.Second)
		synctest.Wait()
		entry, _ := o.table.Find("r1")
		if _, err := s.Send(&entry, []string{"a@example.com"}, "anna"); !errors.Is(err, errTooBusy) {
			t.Errorf("a request while all attempts run: %v", err)
		}
		time.Sleep(2 * time.Hour)
		s.Close()
		o.mu.Lock()
		defer o.mu.Unlock()
		if most != maxAttempts {
			t.Errorf("%d attempts at once, want %d", most, maxAttempts)
		}
	})
}

// An e-mail that only some recipients accept is repeated to the others, and is sent once all of these are
// refused for good.
func TestRefusedRecipients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(time.UTC)
		var recipients [][]string
		o.setSend(func(_ context.Context, message *mail.Message) error {
			recipients = append(recipients, message.To)
			if len(recipients) == 1 {
				return &mail.RecipientError{Accepted: []string{"a@example.com"}, Deferred: []string{"b@example.com"}}
			}
			return &mail.RecipientError{Refused: []string{"b@example.com"}}
		})
		o.set("r", &savedreport.Schedule{Frequency: savedreport.Daily, Time: "08:00", Recipients: []string{"a@example.com", "b@example.com"}})
		s := o.newService()
		s.Start()
		time.Sleep(10 * time.Hour)
		s.Close()
		if want := [][]string{{"a@example.com", "b@example.com"}, {"b@example.com"}}; !reflect.DeepEqual(recipients, want) {
			t.Errorf("sent to %v, want %v", recipients, want)
		}
		_, ended := o.outcome()
		entry, _ := o.table.Find("r")
		if len(ended) != 1 || ended[0].Outcome != event.ReportMailSent || ended[0].Error == "" || entry.LastSent == 0 || entry.LastError == "" {
			t.Errorf("recorded %+v, the table has %+v", ended, entry)
		}
	})
}

// A report that is removed, or whose schedule changes, sends no waiting e-mail.
func TestChangedReportDropsWaitingMail(t *testing.T) {
	for name, change := range map[string]func(*office){
		"removed":      func(o *office) { o.table.ApplyChange(&event.SavedReportChanged{ID: "r"}) },
		"unscheduled":  func(o *office) { o.set("r", nil) },
		"another time": func(o *office) { o.set("r", daily("07:00")) },
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newOffice(time.UTC)
			o.set("r", daily("08:00"))
			o.setSend(func(context.Context, *mail.Message) error { return errors.New("refused") })
			s := o.newService()
			s.Start()
			time.Sleep(8*time.Hour + time.Second)
			synctest.Wait()
			change(o)
			o.setSend(nil)
			time.Sleep(10 * time.Hour)
			synctest.Wait()
			s.Close()
			if sent, ended := o.outcome(); len(sent) != 0 || len(ended) != 0 {
				t.Errorf("%s: sent %q, recorded %+v", name, sent, ended)
			}
		})
	}
}

// An e-mail on request is recorded, and does not count as a moment of the schedule.
func TestRequestedMail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(time.UTC)
		o.set("r", daily("08:00"))
		s := o.newService()
		time.Sleep(9 * time.Hour)
		entry, _ := o.table.Find("r")
		must.Value(s.Send(&entry, []string{"b@example.com"}, "anna"))(t)
		s.QueueDueMails(o.now())
		synctest.Wait()
		s.Close()
		if sent, ended := o.outcome(); len(sent) != 2 || len(ended) != 2 || !ended[0].Requested || ended[0].By != "anna" || ended[1].Requested {
			t.Errorf("%q, %+v", sent, ended)
		}
	})
}
