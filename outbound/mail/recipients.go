package mail

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// RecipientError is returned if the server did not accept a message for each of its recipients.
type RecipientError struct {
	Accepted []string // they get the message
	Refused  []string // the server refused them, or the message to them, for good
	Deferred []string // another attempt may reach them

	server string
	causes []string // for each recipient that is not accepted
}

// Error names the recipients that were not accepted, with the server's replies.
func (e *RecipientError) Error() string {
	return fmt.Sprintf("the SMTP server %s accepted the message for %d of %d recipients: %s",
		e.server, len(e.Accepted), len(e.Accepted)+len(e.Refused)+len(e.Deferred), strings.Join(e.causes, "; "))
}

// add records the result of an attempt for a recipient.
func (e *RecipientError) add(recipient string, err error) {
	switch {
	case err == nil:
		e.Accepted = append(e.Accepted, recipient)
	case isRefusal(err):
		e.Refused = append(e.Refused, recipient)
		e.causes = append(e.causes, recipient+" is refused: "+textWithoutRecipients(err))
	default:
		e.Deferred = append(e.Deferred, recipient)
		e.causes = append(e.causes, recipient+" is not accepted yet: "+textWithoutRecipients(err))
	}
}

// session is a signed-in connection to an SMTP server.
type session struct {
	client *gomail.Client
	smtp   *smtp.Client
	server string // for errors
}

// send sends one message to all recipients. If the server refuses it, or a recipient, each recipient
// gets its own message: go-mail otherwise sends nothing because of one refused recipient, and tells
// the reply to the last one only.
func (s *session) send(message *Message) error {
	err := s.transmit(message, message.To)
	switch {
	case err == nil:
		return nil
	case !concernsRecipient(err):
		return fmt.Errorf("the SMTP server %s did not accept the message: %s", s.server, textWithoutRecipients(err))
	}
	result := &RecipientError{server: s.server}
	if len(message.To) == 1 {
		result.add(message.To[0], err)
		return result
	}
	return s.sendToEach(message, result)
}

// sendToEach sends a message to each recipient, until the connection fails. It returns nil if the
// server has accepted all of them.
func (s *session) sendToEach(message *Message, result *RecipientError) error {
	var broken error                                             // of the connection
	if err := s.client.ResetWithSMTPClient(s.smtp); err != nil { // the refused message may still be open
		broken = err
	}
	for _, recipient := range message.To {
		err := broken
		if err == nil {
			err = s.transmit(message, []string{recipient})
		}
		result.add(recipient, err)
		if err != nil && broken == nil && (replyCode(err) == 0 || s.client.ResetWithSMTPClient(s.smtp) != nil) {
			broken = err
		}
	}
	if len(result.causes) == 0 {
		return nil
	}
	return result
}

// transmit sends one message. An error after the server has accepted it, such as a failed RSET, is
// none: another attempt would repeat the message.
func (s *session) transmit(message *Message, recipients []string) error {
	letter, err := newLetter(message, recipients)
	if err != nil {
		return err
	}
	if err = s.client.SendWithSMTPClient(s.smtp, letter); err != nil && !letter.IsDelivered() {
		return err
	}
	return nil
}

// recipientSteps are the steps at which a server may refuse a message because of one recipient.
var recipientSteps = []gomail.SendErrReason{gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose}

// concernsRecipient reports whether a server's reply may concern one recipient only, so that the
// others may get the message. No recipient has it after such an error.
func concernsRecipient(err error) bool {
	var sendError *gomail.SendError
	return errors.As(err, &sendError) && (sendError.Reason == gomail.ErrSMTPRcptTo || isRefusal(err))
}

// isRefusal reports whether a reply is final for a recipient.
func isRefusal(err error) bool {
	var sendError *gomail.SendError
	return errors.As(err, &sendError) && slices.Contains(recipientSteps, sendError.Reason) && replyCode(err) >= 500
}

// replyCode returns the code of the server's reply, or 0 if there was none.
func replyCode(err error) int {
	var sendError *gomail.SendError
	if errors.As(err, &sendError) {
		return sendError.ErrorCode()
	}
	return 0
}

// textWithoutRecipients returns the text of an error without the recipients and ids that go-mail adds to it.
func textWithoutRecipients(err error) string {
	text, _, _ := strings.Cut(err.Error(), ", affected ")
	return text
}
