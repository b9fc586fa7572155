// Package calendar computes windows of time in a time zone: the hours, days, weeks and
// months over which caps count, and the opening hours of campaigns and buyers. It reads no clock.
package calendar
