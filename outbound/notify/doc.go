// Package notify sends notifications to operators: by e-mail, to a Slack-compatible webhook, or to a
// webhook that is signed like the suppliers' ones.
//
// Queue holds the notifications that are due, with one worker for each channel. So a channel that
// hangs delays only its own notifications. Transport makes one attempt to send one.
package notify
