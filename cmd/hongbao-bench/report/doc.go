// Package report writes what was measured as one page for people: charts, verdicts, tables, the hardware and the command.
//
// It must always hold: the page is one file that needs nothing from elsewhere and runs no script, so that it shows the
// same in ten years; every figure of a chart stands in a table too; and no text of the measured can become markup.
package report
