// Package webhook has the rules of the notifications to suppliers: which event a log
// record triggers, the payload, the schedule of attempts, and dead letters.
//
// It commits no events. The outbox, the queue of each supplier, is part of
// engine/state; package engine records attempts, and outbound/webhook sends.
package webhook
