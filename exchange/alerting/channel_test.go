package alerting

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine/alert"
	"pingpost/engine/event"
	"pingpost/outbound/notify"
)

// transportFunc is a Transport.
type transportFunc func(ctx context.Context, to *notify.Destination) error

func (f transportFunc) Send(ctx context.Context, to *notify.Destination, _ *notify.Message) error {
	return f(ctx, to)
}

// Close ends a test of a channel that hangs.
func TestCloseCancelsTest(t *testing.T) {
	s := newReportService(nil)
	sending := make(chan struct{})
	s.options.Transport = transportFunc(func(ctx context.Context, _ *notify.Destination) error {
		close(sending)
		<-ctx.Done()
		return ctx.Err()
	})
	ended := make(chan error, 1)
	go func() { ended <- s.Test(&alert.Channel{ID: "c", Kind: alert.ChannelWebhook}) }()
	<-sending
	s.Close()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A repeat of an e-mail goes to the recipients that do not have it.
func TestEmailIsNotRepeatedToRecipientsThatHaveIt(t *testing.T) {
	s := newReportService(nil)
	settings := &alert.Settings{Channels: []alert.Channel{{ID: "mail", Kind: alert.ChannelEmail, To: []string{"a@example.com", "b@example.com"}}}}
	s.table.ApplySettings(&event.AlertSettingsChanged{Document: settings.Encode()})
	s.table.ApplyChange(&event.AlertOrNotificationChanged{Transition: event.AlertFired, Rule: "r", Channels: []string{"mail"}, At: 1})
	var sentTo []string
	s.options.Transport = transportFunc(func(_ context.Context, to *notify.Destination) error {
		sentTo = append(sentTo, strings.Join(to.Email.To, " "))
		return nil
	})
	for _, accepted := range [][]string{nil, {"a@example.com"}, {"a@example.com", "b@example.com"}} {
		if err := s.sendItem(t.Context(), notify.Item{ID: 1, Channel: "mail", Accepted: accepted}); err != nil {
			t.Error(err)
		}
	}
	if got := fmt.Sprintf("%q", sentTo); got != `["a@example.com b@example.com" "b@example.com"]` {
		t.Error(got)
	}
	if to := s.table.Settings().Channels[0].To; len(to) != 2 || to[0] != "a@example.com" {
		t.Errorf("the settings changed: %v", to)
	}
}

// The error of a backup, which has text of another server, is cleaned and limited.
func TestNoteOfBackupIsPrintable(t *testing.T) {
	m := measurer{sources: Sources{BackupLag: func() (time.Duration, string, bool) {
		return time.Minute, "a\xff\r\n\x1b[31mb" + strings.Repeat("x", 100_000), true
	}}}
	note := m.backupLagIfConfigured()[0].Note
	if !strings.HasPrefix(note, "; last error: a  [31mbx") || len(note) > 400 {
		t.Errorf("%d bytes: %.60q", len(note), note)
	}
}
