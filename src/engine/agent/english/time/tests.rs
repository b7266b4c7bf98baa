use super::*;
use crate::engine::agent::english::text::token::tokens;
use crate::engine::agent::explainer::describe;
use crate::engine::agent::plan::window::read;

/// A Tuesday, the last day of a month and of a quarter.
const NOW: &str = "2026-03-31T10:30:00";

fn calendar(week_start: u8, fiscal_year_start: u8) -> Calendar {
    Calendar { week_start, fiscal_year_start, ..Calendar::default() }
}

fn window(window: &Window) -> String {
    format!("{}..{}", window.start.as_deref().unwrap_or_default(), window.end.as_deref().unwrap_or_default())
}

/// `start..end` for windows, `@grain`, `~previous`, `~year` and `~start..end` for comparisons, `7×day` for rolling
/// means; phrases after each other with a space.
fn shown(question: &str, now: &str, calendar: &Calendar) -> String {
    let found = find(&tokens(question), now.parse().unwrap(), calendar);
    let grain = |grain| serde_json::to_value(grain).unwrap().as_str().unwrap().to_owned();
    let phrases = found.iter().map(|found| match &found.phrase {
        TimePhrase::Window(found) => window(found),
        TimePhrase::Hours(from, to) => format!("#{from}-{to}"),
        TimePhrase::Grain(found) => format!("@{}", grain(*found)),
        TimePhrase::Compare(CompareWith::PreviousPeriod) => "~previous".into(),
        TimePhrase::Compare(CompareWith::YearBefore) => "~year".into(),
        TimePhrase::Compare(CompareWith::Window(found)) => format!("~{}", window(found)),
        TimePhrase::Rolling(count, found) => format!("{count}×{}", grain(*found)),
    });
    phrases.collect::<Vec<_>>().join(" ")
}

fn check(now: &str, calendar: &Calendar, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(question, expected)| (question, expected, shown(question, now, calendar)))
        .filter(|(_, expected, shown)| *expected != shown)
        .map(|(question, expected, shown)| format!("{question:?}: expected {expected:?}, found {shown:?}"))
        .collect();
    assert!(wrong.is_empty(), "at {now}:\n{}", wrong.join("\n"));
}

#[test]
fn relative_phrases_count_whole_units_from_now() {
    check(
        NOW,
        &calendar(1, 1),
        &[
            ("orders today", "2026-03-31..2026-04-01"),
            ("yesterday's orders", "2026-03-30..2026-03-31"),
            ("tomorrow", "2026-04-01..2026-04-02"),
            ("the day before yesterday", "2026-03-29..2026-03-30"),
            ("sales in the last 7 days", "2026-03-24..2026-03-31"),
            ("sales over the past seven days", "2026-03-24..2026-03-31"),
            ("trailing 30 days", "2026-03-01..2026-03-31"),
            ("previous 2 weeks", "2026-03-16..2026-03-30"),
            ("last week", "2026-03-23..2026-03-30"),
            ("this week", "2026-03-30..2026-04-06"),
            ("next week", "2026-04-06..2026-04-13"),
            ("last month", "2026-02-01..2026-03-01"),
            ("last month's revenue", "2026-02-01..2026-03-01"),
            ("the current month", "2026-03-01..2026-04-01"),
            ("next month", "2026-04-01..2026-05-01"),
            ("last 3 months", "2025-12-01..2026-03-01"),
            ("for the past 12 months", "2025-03-01..2026-03-01"),
            ("the last twelve calendar months", "2025-03-01..2026-03-01"),
            ("last quarter", "2025-10-01..2026-01-01"),
            ("this quarter", "2026-01-01..2026-04-01"),
            ("previous two quarters", "2025-07-01..2026-01-01"),
            ("last year", "2025-01-01..2026-01-01"),
            ("this year", "2026-01-01..2027-01-01"),
            ("last 3 years", "2023-01-01..2026-01-01"),
            ("next 2 quarters", "2026-04-01..2026-10-01"),
            ("in the last 24 hours", "2026-03-30T10:00:00..2026-03-31T10:00:00"),
            ("3 months ago", "2025-12-01..2026-01-01"),
            ("a year ago", "2025-01-01..2026-01-01"),
            ("2 days ago", "2026-03-29..2026-03-30"),
            ("two weeks ago", "2026-03-16..2026-03-23"),
            ("last January", "2026-01-01..2026-02-01"),
            ("last March", "2025-03-01..2025-04-01"),
            ("last April", "2025-04-01..2025-05-01"),
            ("this March", "2026-03-01..2026-04-01"),
            ("next January", "2027-01-01..2027-02-01"),
            ("next April", "2026-04-01..2026-05-01"),
            ("last Monday", "2026-03-30..2026-03-31"),
            ("last Tuesday", "2026-03-24..2026-03-25"),
            ("on Tuesday", "2026-03-31..2026-04-01"),
            ("on Wednesday", "2026-03-25..2026-03-26"),
            ("next Tuesday", "2026-04-07..2026-04-08"),
            ("last weekend", "2026-03-28..2026-03-30"),
            ("this weekend", "2026-04-04..2026-04-06"),
            ("sales of all time", ".."),
        ],
    );
}

#[test]
fn to_date_phrases_end_with_today() {
    check(
        NOW,
        &calendar(1, 10),
        &[
            ("revenue YTD", "2026-01-01..2026-04-01"),
            ("QTD revenue", "2026-01-01..2026-04-01"),
            ("MTD", "2026-03-01..2026-04-01"),
            ("WTD", "2026-03-30..2026-04-01"),
            ("year to date", "2026-01-01..2026-04-01"),
            ("year-to-date revenue", "2026-01-01..2026-04-01"),
            ("month to date", "2026-03-01..2026-04-01"),
            ("so far this year", "2026-01-01..2026-04-01"),
            ("this year so far", "2026-01-01..2026-04-01"),
            ("so far this month", "2026-03-01..2026-04-01"),
            ("this week to date", "2026-03-30..2026-04-01"),
            ("fiscal year to date", "2025-10-01..2026-04-01"),
            ("FYTD", "2025-10-01..2026-04-01"),
        ],
    );
}

#[test]
fn names_of_the_calendar_are_whole_stretches() {
    check(
        NOW,
        &calendar(1, 1),
        &[
            ("flights in 2013", "2013-01-01..2014-01-01"),
            ("flights in the year 2013", "2013-01-01..2014-01-01"),
            ("calendar year 2013", "2013-01-01..2014-01-01"),
            ("Q3 2025", "2025-07-01..2025-10-01"),
            ("Q3 of 2025", "2025-07-01..2025-10-01"),
            ("2025 Q3", "2025-07-01..2025-10-01"),
            ("2025-Q3", "2025-07-01..2025-10-01"),
            ("2025Q3", "2025-07-01..2025-10-01"),
            ("3Q25", "2025-07-01..2025-10-01"),
            ("Q3'25", "2025-07-01..2025-10-01"),
            ("Q3/2025", "2025-07-01..2025-10-01"),
            ("Q3-2025", "2025-07-01..2025-10-01"),
            ("in Q3", "2025-07-01..2025-10-01"),
            ("in Q1", "2026-01-01..2026-04-01"),
            ("quarter 3 of 2013", "2013-07-01..2013-10-01"),
            ("third quarter of 2013", "2013-07-01..2013-10-01"),
            ("in the 3rd quarter 2013", "2013-07-01..2013-10-01"),
            ("in the fourth quarter", "2025-10-01..2026-01-01"),
            ("first quarter of last year", "2025-01-01..2025-04-01"),
            ("H1 2025", "2025-01-01..2025-07-01"),
            ("2H 2025", "2025-07-01..2026-01-01"),
            ("second half of 2013", "2013-07-01..2014-01-01"),
            ("in the first half of the last year", "2025-01-01..2025-07-01"),
            ("January 2013", "2013-01-01..2013-02-01"),
            ("Jan 2013", "2013-01-01..2013-02-01"),
            ("Jan. 2013", "2013-01-01..2013-02-01"),
            ("Sept 2013", "2013-09-01..2013-10-01"),
            ("Dec '13", "2013-12-01..2014-01-01"),
            ("March, 2013", "2013-03-01..2013-04-01"),
            ("May 2013", "2013-05-01..2013-06-01"),
            ("the month of May", "2025-05-01..2025-06-01"),
            ("in January", "2026-01-01..2026-02-01"),
            ("in March", "2026-03-01..2026-04-01"),
            ("in April", "2025-04-01..2025-05-01"),
            ("during may", "2025-05-01..2025-06-01"),
            ("january revenue", "2026-01-01..2026-02-01"),
            ("December last year", "2025-12-01..2026-01-01"),
            ("Feb-2013", "2013-02-01..2013-03-01"),
            ("July 4 2013", "2013-07-04..2013-07-05"),
            ("July 4, 2013", "2013-07-04..2013-07-05"),
            ("July 4th, 2013", "2013-07-04..2013-07-05"),
            ("4 July 2013", "2013-07-04..2013-07-05"),
            ("the 4th of July 2013", "2013-07-04..2013-07-05"),
            ("04-Jul-2013", "2013-07-04..2013-07-05"),
            ("on July 4", "2025-07-04..2025-07-05"),
            ("on the 4th of July", "2025-07-04..2025-07-05"),
            ("on March 31", "2026-03-31..2026-04-01"),
            ("on 2013-01-31", "2013-01-31..2013-02-01"),
            ("2013/01/31", "2013-01-31..2013-02-01"),
            ("in 2013-07", "2013-07-01..2013-08-01"),
            ("7/2013", "2013-07-01..2013-08-01"),
            ("12/25/2013", "2013-12-25..2013-12-26"),
            ("25/12/2013", "2013-12-25..2013-12-26"),
            ("12/25/13", "2013-12-25..2013-12-26"),
            ("3/3/2013", "2013-03-03..2013-03-04"),
            ("31.12.2013", "2013-12-31..2014-01-01"),
            ("3.4.2013", "2013-04-03..2013-04-04"),
            ("31-12-2013", "2013-12-31..2014-01-01"),
            ("2013-01-31T10:30", "2013-01-31T10:30:00..2013-01-31T10:31:00"),
            // The first week of 2013 with most of its days in it began on 31 December; the seventh is six weeks later.
            ("2013-W07", "2013-02-11..2013-02-18"),
            ("week 7 of 2013", "2013-02-11..2013-02-18"),
            ("calendar week 1 2013", "2012-12-31..2013-01-07"),
            // 14 February 2013 was a Thursday.
            ("the week of 2013-02-14", "2013-02-11..2013-02-18"),
            ("week of February 14 2013", "2013-02-11..2013-02-18"),
            ("the 1990s", "1990-01-01..2000-01-01"),
            ("first month of 2013", "2013-01-01..2013-02-01"),
            ("last quarter of 2013", "2013-10-01..2014-01-01"),
            ("the first 10 days of March 2013", "2013-03-01..2013-03-11"),
            ("last 2 months of 2013", "2013-11-01..2014-01-01"),
            ("the last day of February 2024", "2024-02-29..2024-03-01"),
            ("first week of March 2013", "2013-03-01..2013-03-08"),
            ("last week of March 2013", "2013-03-25..2013-04-01"),
            ("orders in '97", "1997-01-01..1998-01-01"),
        ],
    );
}

#[test]
fn ranges_include_both_named_ends() {
    check(
        NOW,
        &calendar(1, 1),
        &[
            ("between March 2024 and June 2024", "2024-03-01..2024-07-01"),
            ("between March and June 2024", "2024-03-01..2024-07-01"),
            ("between November and February 2014", "2013-11-01..2014-03-01"),
            ("from Jan 1 to Jan 15 2025", "2025-01-01..2025-01-16"),
            ("from January 2025 through March", "2025-01-01..2025-04-01"),
            ("from November to February", "2025-11-01..2026-03-01"),
            ("January to March 2013", "2013-01-01..2013-04-01"),
            ("Jan-Mar 2013", "2013-01-01..2013-04-01"),
            ("Jan – Mar 2013", "2013-01-01..2013-04-01"),
            ("1 to 15 March 2013", "2013-03-01..2013-03-16"),
            ("1-15 March 2013", "2013-03-01..2013-03-16"),
            ("March 1-15, 2013", "2013-03-01..2013-03-16"),
            ("between 5 and 10 March 2013", "2013-03-05..2013-03-11"),
            ("from March 5 to 10 2013", "2013-03-05..2013-03-11"),
            ("from 2013-01-01 to 2013-01-31", "2013-01-01..2013-02-01"),
            ("between 2013-01-01 and 2013-01-31", "2013-01-01..2013-02-01"),
            ("from 2012 to 2013", "2012-01-01..2014-01-01"),
            ("2012-2013", "2012-01-01..2014-01-01"),
            ("2012 to 2013", "2012-01-01..2014-01-01"),
            ("Q1 to Q3 2013", "2013-01-01..2013-10-01"),
            ("from last Monday until yesterday", "2026-03-30..2026-03-31"),
            ("from 2013 until today", "2013-01-01..2026-04-01"),
            ("from January 2026 to now", "2026-01-01..2026-04-01"),
            ("since January 2025", "2025-01-01.."),
            ("since 2013", "2013-01-01.."),
            ("since the beginning of the year", "2026-01-01.."),
            ("since the start of 2013", "2013-01-01.."),
            ("since yesterday", "2026-03-30.."),
            ("from 2013 onwards", "2013-01-01.."),
            ("from March 2013 on", "2013-03-01.."),
            ("2013 or later", "2013-01-01.."),
            ("starting in May 2013", "2013-05-01.."),
            ("before 2020-01-01", "..2020-01-01"),
            ("before 2020", "..2020-01-01"),
            ("prior to March 2020", "..2020-03-01"),
            ("after 2013", "2014-01-01.."),
            ("after March 5 2013", "2013-03-06.."),
            ("later than 2013-03-05", "2013-03-06.."),
            ("until 2013", "..2014-01-01"),
            ("through March 2013", "..2013-04-01"),
            ("until the end of March 2013", "..2013-04-01"),
            ("as of yesterday", "..2026-03-31"),
            ("by the end of 2013", "..2014-01-01"),
            ("the 12 months before June 2013", "2012-06-01..2013-06-01"),
            ("in the 30 days after 2013-01-01", "2013-01-02..2013-02-01"),
            ("between 2014 and 2012", "2014-01-01..2015-01-01 2012-01-01..2013-01-01"),
            ("flights in March and April 2013", "2013-03-01..2013-04-01 2013-04-01..2013-05-01"),
            (
                "in January, February and May 2013",
                "2013-01-01..2013-02-01 2013-02-01..2013-03-01 2013-05-01..2013-06-01",
            ),
            ("in December 2013 and January", "2013-12-01..2014-01-01 2014-01-01..2014-02-01"),
        ],
    );
}

#[test]
fn fiscal_years_have_the_number_of_the_year_in_which_they_end() {
    check(
        NOW,
        &calendar(1, 10),
        &[
            ("FY24", "2023-10-01..2024-10-01"),
            ("in FY2024", "2023-10-01..2024-10-01"),
            ("FY 2024", "2023-10-01..2024-10-01"),
            ("FY2023/24", "2023-10-01..2024-10-01"),
            ("fiscal 2024", "2023-10-01..2024-10-01"),
            ("fiscal year 2024", "2023-10-01..2024-10-01"),
            ("financial year 2023/24", "2023-10-01..2024-10-01"),
            ("last fiscal year", "2024-10-01..2025-10-01"),
            ("this fiscal year", "2025-10-01..2026-10-01"),
            ("last 2 fiscal years", "2023-10-01..2025-10-01"),
            ("fiscal Q2 2024", "2024-01-01..2024-04-01"),
            ("Q2 FY24", "2024-01-01..2024-04-01"),
            ("FY24 Q2", "2024-01-01..2024-04-01"),
            ("fiscal Q2", "2026-01-01..2026-04-01"),
            ("fiscal Q3", "2025-04-01..2025-07-01"),
            ("second fiscal quarter of 2024", "2024-01-01..2024-04-01"),
            ("last fiscal quarter", "2025-10-01..2026-01-01"),
            ("first quarter of last fiscal year", "2024-10-01..2025-01-01"),
            ("from FY23 to FY24", "2022-10-01..2024-10-01"),
            ("Q2 2024", "2024-04-01..2024-07-01"),
        ],
    );
    check(
        NOW,
        &calendar(1, 7),
        &[
            ("FY24", "2023-07-01..2024-07-01"),
            ("this fiscal year", "2025-07-01..2026-07-01"),
            ("Q1 FY24", "2023-07-01..2023-10-01"),
            ("H2 FY24", "2024-01-01..2024-07-01"),
            ("last fiscal quarter", "2025-10-01..2026-01-01"),
        ],
    );
    check(
        "2026-01-01T00:00:00",
        &calendar(1, 2),
        &[
            ("FY24", "2023-02-01..2024-02-01"),
            ("this fiscal year", "2025-02-01..2026-02-01"),
            ("last fiscal quarter", "2025-08-01..2025-11-01"),
            ("fiscal Q4", "2025-11-01..2026-02-01"),
        ],
    );
    check(NOW, &calendar(1, 1), &[("FY24", "2024-01-01..2025-01-01"), ("fiscal Q2 2024", "2024-04-01..2024-07-01")]);
}

#[test]
fn awkward_days_have_their_calendar() {
    check(
        "2024-02-29T23:59:59",
        &calendar(1, 1),
        &[
            ("last month", "2024-01-01..2024-02-01"),
            ("last year", "2023-01-01..2024-01-01"),
            ("a year ago", "2023-01-01..2024-01-01"),
            ("this month", "2024-02-01..2024-03-01"),
            ("last 30 days", "2024-01-30..2024-02-29"),
            ("YTD", "2024-01-01..2024-03-01"),
            ("on February 29", "2024-02-29..2024-03-01"),
        ],
    );
    check(
        "2025-03-01T00:00:00",
        &calendar(1, 1),
        &[
            ("on February 29", "2024-02-29..2024-03-01"),
            ("yesterday", "2025-02-28..2025-03-01"),
            ("in March", "2025-03-01..2025-04-01"),
            ("MTD", "2025-03-01..2025-03-02"),
        ],
    );
    check(
        "2026-01-01T00:00:00",
        &calendar(1, 1),
        &[
            ("yesterday", "2025-12-31..2026-01-01"),
            ("last month", "2025-12-01..2026-01-01"),
            ("last quarter", "2025-10-01..2026-01-01"),
            ("last 3 months", "2025-10-01..2026-01-01"),
            ("YTD", "2026-01-01..2026-01-02"),
            ("in January", "2026-01-01..2026-02-01"),
            ("in December", "2025-12-01..2026-01-01"),
            // 1 January 2026 was a Thursday.
            ("last week", "2025-12-22..2025-12-29"),
            ("last 1 hour", "2025-12-31T23:00:00..2026-01-01"),
        ],
    );
}

#[test]
fn weeks_begin_where_the_calendar_says() {
    // A Sunday.
    let now = "2026-11-22T12:00:00";
    check(now, &calendar(1, 1), &[("this week", "2026-11-16..2026-11-23"), ("last week", "2026-11-09..2026-11-16")]);
    check(now, &calendar(7, 1), &[("this week", "2026-11-22..2026-11-29"), ("last week", "2026-11-15..2026-11-22")]);
    check(now, &calendar(6, 1), &[("this week", "2026-11-21..2026-11-28"), ("WTD", "2026-11-21..2026-11-23")]);
    check(
        now,
        &calendar(7, 1),
        &[("this weekend", "2026-11-21..2026-11-23"), ("week of 2013-02-14", "2013-02-10..2013-02-17")],
    );
}

#[test]
fn what_goes_on_is_held_against_as_much_of_the_time_before() {
    check(
        "2026-11-28T12:00:00",
        &calendar(1, 1),
        &[
            ("revenue this year compared with last year", "2026-01-01..2026-11-29 ~year"),
            ("this year vs the previous period", "2026-01-01..2026-11-29 ~year"),
            ("this month vs last year", "2026-11-01..2026-11-29 ~year"),
            ("this quarter vs the previous quarter", "2026-10-01..2026-11-29 ~2026-07-01..2026-08-29"),
            ("this week compared with last week", "2026-11-23..2026-11-29 ~2026-11-16..2026-11-22"),
            ("month to date vs last month", "2026-11-01..2026-11-29 ~2026-10-01..2026-10-29"),
            // What is over, or named by itself, is as long as it is.
            ("last month vs the previous month", "2026-10-01..2026-11-01 ~previous"),
            ("2026 vs 2025", "2026-01-01..2027-01-01 ~2025-01-01..2026-01-01"),
        ],
    );
}

#[test]
fn comparisons_name_another_time() {
    check(
        NOW,
        &calendar(1, 1),
        &[
            ("revenue this year vs last year", "2026-01-01..2026-04-01 ~year"),
            ("revenue in Q1 2013 compared with the previous year", "2013-01-01..2013-04-01 ~year"),
            ("revenue in March 2013 compared to the previous month", "2013-03-01..2013-04-01 ~previous"),
            ("this month vs. last month", "2026-03-01..2026-04-01 ~previous"),
            ("revenue year over year", "~year"),
            ("YoY growth", "~year"),
            ("month over month", "~previous"),
            ("month-over-month change", "~previous"),
            ("MoM", "~previous"),
            ("QoQ", "~previous"),
            ("WoW", "~previous"),
            ("revenue in March 2013 vs same period last year", "2013-03-01..2013-04-01 ~year"),
            ("YTD vs the same period of the previous year", "2026-01-01..2026-04-01 ~year"),
            ("March 2013 versus the same month last year", "2013-03-01..2013-04-01 ~year"),
            ("March 2013 versus a year earlier", "2013-03-01..2013-04-01 ~year"),
            // As much of the other time as has passed of this one.
            ("this year vs the same period last year", "2026-01-01..2027-01-01 ~2025-01-01..2025-04-01"),
            ("this week compared with the same days last week", "2026-03-30..2026-04-06 ~2026-03-23..2026-03-25"),
            ("this month vs the same days last month", "2026-03-01..2026-04-01 ~2026-02-01..2026-03-01"),
            ("March 2013 vs the same days of the month before", "2013-03-01..2013-04-01 ~2013-02-01..2013-03-01"),
            ("more than 30 days before the end", ""),
            ("last 7 days vs previous 7 days", "2026-03-24..2026-03-31 ~previous"),
            ("last 7 days vs the 7 days before", "2026-03-24..2026-03-31 ~previous"),
            ("last quarter against the previous period", "2025-10-01..2026-01-01 ~previous"),
            ("revenue in 2013 vs 2012", "2013-01-01..2014-01-01 ~2012-01-01..2013-01-01"),
            ("Q1 2013 versus Q1 2012", "2013-01-01..2013-04-01 ~2012-01-01..2012-04-01"),
            ("higher in March 2013 than in March 2012", "2013-03-01..2013-04-01 ~2012-03-01..2012-04-01"),
            ("March vs April 2013", "2013-03-01..2013-04-01 ~2013-04-01..2013-05-01"),
            ("Q3 2013 vs Q2", "2013-07-01..2013-10-01 ~2013-04-01..2013-07-01"),
            // Not of the same length: what the words say.
            ("today vs last week", "2026-03-31..2026-04-01 ~2026-03-23..2026-03-30"),
            ("orders on 2013-03-05 vs the previous month", "2013-03-05..2013-03-06 ~2013-02-01..2013-03-01"),
            ("today vs 2 weeks ago", "2026-03-31..2026-04-01 ~2026-03-16..2026-03-23"),
        ],
    );
}

#[test]
fn grains_and_rolling_means_are_units() {
    check(
        NOW,
        &calendar(1, 1),
        &[
            ("hourly flights", "@hour"),
            ("daily", "@day"),
            ("weekly", "@week"),
            ("monthly revenue", "@month"),
            ("quarterly", "@quarter"),
            ("yearly", "@year"),
            ("annually", "@year"),
            ("revenue by month and carrier", "@month"),
            ("flights per day", "@day"),
            ("by fiscal quarter", "@fiscal_quarter"),
            ("month by month", "@month"),
            ("by day of the week", "@day_of_week"),
            ("by weekday", "@day_of_week"),
            ("by hour of day", "@hour_of_day"),
            ("by month of the year", "@month_of_year"),
            ("by day of month", "@day_of_month"),
            ("top 3 months by revenue", "@month"),
            ("busiest day of the year", "@day"),
            ("monthly revenue in 2013", "@month 2013-01-01..2014-01-01"),
            ("7-day moving average of sales", "7×day"),
            ("7 day rolling mean", "7×day"),
            ("rolling 3 months", "3×month"),
            ("rolling 3-month average", "3×month"),
            ("three month moving average", "3×month"),
            ("rented for more than 5 days", ""),
        ],
    );
}

#[test]
fn what_is_no_time_is_not_found() {
    check(
        NOW,
        &calendar(1, 1),
        &[
            ("2013 flights", ""),
            ("flights over 2000 miles", ""),
            ("more than 2000 orders", ""),
            ("orders with at least 2000", ""),
            ("top 2000", ""),
            ("up to 2000", ""),
            ("costs more than 2000", ""),
            ("price exceeds 1999", ""),
            ("in 2500", ""),
            ("in 1850", ""),
            ("may I see flights", ""),
            ("march on", ""),
            ("Mondays", ""),
            ("Monday flights", ""),
            ("on weekends", ""),
            ("claim 31003000336", ""),
            ("called \"last month\"", ""),
            ("3/4/2013", ""),
            ("31 February 2013", "2013-02-01..2013-03-01"),
            ("2013-02-30", ""),
            ("2013-13", ""),
            ("Q5 2013?", "2013-01-01..2014-01-01"),
            ("Jan-13", ""),
            ("the first half", ""),
            // Parts of what is not known to have them, or of each.
            ("in the first half of March 2013", "2013-03-01..2013-04-01"),
            ("the last day of each month", "@day @month"),
            ("the last week of sales", "2026-03-23..2026-03-30"),
            ("second class", ""),
            ("last name", ""),
            ("last days", "@day"),
            ("the past few weeks", "@week"),
        ],
    );
}

#[test]
fn four_digits_are_a_year_where_a_year_can_stand() {
    check(
        NOW,
        &calendar(1, 1),
        &[
            ("flights 2013", "2013-01-01..2014-01-01"),
            ("flights 2013?", "2013-01-01..2014-01-01"),
            ("2013, by carrier", "2013-01-01..2014-01-01"),
            ("revenue 2013 by carrier", "2013-01-01..2014-01-01"),
            ("in 2012, 2013 and 2014", "2012-01-01..2013-01-01 2013-01-01..2014-01-01 2014-01-01..2015-01-01"),
        ],
    );
    let bare = |question: &str| {
        find(&tokens(question), NOW.parse().unwrap(), &Calendar::default())
            .iter()
            .map(|found| found.bare_number)
            .collect::<Vec<_>>()
    };
    assert_eq!(bare("in 2013"), [false]);
    assert_eq!(bare("flights 2013"), [true]);
    assert_eq!(bare("between 1950 and 2000"), [true]);
    assert_eq!(bare("between 1950 and March 2000"), [false]);
    assert_eq!(bare("before 2000"), [true]);
    assert_eq!(bare("of the year 2000"), [false]);
}

#[test]
fn prepositions_belong_to_a_phrase_but_not_to_its_words() {
    for (question, covered, phrase) in [
        ("sales during the last 3 months by city", 1..6, "last 3 months"),
        ("sales in 2013", 1..3, "2013"),
        ("sales on July 4, 2013?", 1..6, "July 4, 2013"),
        ("sales between March and June 2013", 1..6, "between March and June 2013"),
        ("sales since May 2013", 1..4, "since May 2013"),
        ("last year's sales", 0..2, "last year's"),
        ("Jan-Mar 2013 sales", 0..2, "Jan-Mar 2013"),
    ] {
        let found = find(&tokens(question), NOW.parse().unwrap(), &Calendar::default());
        let TimePhrase::Window(window) = &found[0].phrase else { panic!("{question}: {found:?}") };
        assert_eq!((found[0].tokens.clone(), window.phrase.as_deref()), (covered, Some(phrase)), "{question}");
    }
}

#[test]
fn units_say_what_a_phrase_counts_in() {
    let unit = |question: &str| find(&tokens(question), NOW.parse().unwrap(), &Calendar::default())[0].unit;
    assert_eq!(unit("last 3 months"), Some(Grain::Month));
    assert_eq!(unit("month over month"), Some(Grain::Month));
    assert_eq!(unit("March 5 2013"), Some(Grain::Day));
    assert_eq!(unit("H1 2013"), None);
    assert_eq!(grain("months"), Some(Grain::Month));
    assert_eq!(grain("monthly"), Some(Grain::Month));
    assert_eq!(grain("carrier"), None);
}

#[test]
fn a_date_with_two_readings_is_none() {
    let found = find(&tokens("orders on 3/4/2013 or 12/25/2013 or 3/3/2013"), NOW.parse().unwrap(), &calendar(1, 1));
    assert!(found.iter().all(|it| !it.tokens.contains(&2)), "{found:?}");
    assert_eq!(found.len(), 2);
}

#[test]
fn other_times_are_as_long_as_the_first() {
    let beside = |with: &CompareWith, start: &str, end: &str| {
        let window = Window { start: Some(start.into()), end: Some(end.into()), ..Window::default() };
        with.beside(&window).map(|window| super::tests::window(&window)).unwrap_or_default()
    };
    for (start, end, previous, year) in [
        ("2013-01-01", "2013-04-01", "2012-10-01..2013-01-01", "2012-01-01..2012-04-01"),
        ("2013-03-01", "2013-04-01", "2013-02-01..2013-03-01", "2012-03-01..2012-04-01"),
        ("2025-02-01", "2025-03-01", "2025-01-01..2025-02-01", "2024-02-01..2024-03-01"),
        ("2026-03-24", "2026-03-31", "2026-03-17..2026-03-24", "2025-03-24..2025-03-31"),
        // Until 28 February, in a leap year and in the one before.
        ("2024-01-15", "2024-02-29", "2023-12-01..2024-01-15", "2023-01-15..2023-03-01"),
        ("2024-02-29", "2024-03-01", "2024-02-28..2024-02-29", "2023-02-28..2023-03-01"),
        (
            "2013-01-31T10:00:00",
            "2013-01-31T11:00:00",
            "2013-01-31T09:00:00..2013-01-31T10:00:00",
            "2012-01-31T10:00:00..2012-01-31T11:00:00",
        ),
    ] {
        assert_eq!(beside(&CompareWith::PreviousPeriod, start, end), previous, "{start}..{end}");
        assert_eq!(beside(&CompareWith::YearBefore, start, end), year, "{start}..{end}");
    }
    let open = Window { start: Some("2013-01-01".into()), end: None, ..Window::default() };
    assert_eq!(CompareWith::YearBefore.beside(&open), None);
}

#[test]
fn windows_are_described_for_people() {
    for (start, end, text) in [
        ("2013-01-01", "2014-01-01", "2013"),
        ("2012-01-01", "2014-01-01", "2012 – 2013"),
        ("2013-07-01", "2013-08-01", "Jul 2013"),
        ("2013-01-01", "2013-04-01", "1 Jan – 31 Mar 2013"),
        ("2012-11-01", "2013-03-01", "1 Nov 2012 – 28 Feb 2013"),
        ("2013-01-31", "2013-02-01", "31 Jan 2013"),
        ("2013-01-01", "", "since 1 Jan 2013"),
        ("", "2020-01-01", "before 1 Jan 2020"),
        ("", "", "all time"),
        ("2013-01-31T10:00:00", "2013-01-31T11:30:00", "31 Jan 2013 10:00 – 11:30"),
        ("2013-01-31T10:00:00", "2013-02-01T10:00:00", "31 Jan 2013 10:00 – 1 Feb 2013 10:00"),
        ("2013-01-31T10:00:05", "", "since 31 Jan 2013 10:00:05"),
        ("nonsense", "", "since nonsense"),
    ] {
        let bound = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        assert_eq!(describe(&Window { start: bound(start), end: bound(end), ..Window::default() }), text);
    }
}

#[test]
fn no_order_of_words_breaks_the_rules() {
    const SOUP: &str = "the of last first 3 31 29 2013 9999 99999999 january may q3 fy24 fiscal year month day week between and \
                        from to since before until vs compared with previous same period ago 7-day moving rolling average , \
                        'quoted 2013' 2013-02-29 2013-W53 3/4/2013 so far this next 4294967295 years Jan-Mar 1-15 second \
                        half in on by 0 hundred million days weekend monday yoy all time FY9999 quarter W99 week 53";
    let soup: Vec<&str> = SOUP.split_whitespace().collect();
    let mut state = 1_u64;
    for _ in 0..3_000 {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap()
        };
        let words: Vec<&str> = (0..1 + next() % 14).map(|_| soup[next() % soup.len()]).collect();
        let question = words.join(" ");
        let tokens = tokens(&question);
        let mut end = 0;
        for found in find(&tokens, NOW.parse().unwrap(), &calendar(7, 10)) {
            assert!(end <= found.tokens.start && found.tokens.start < found.tokens.end, "{question}: {found:?}");
            end = found.tokens.end;
            if let TimePhrase::Window(Window { start: Some(start), end: Some(end), .. }) = &found.phrase {
                assert!(read(start).unwrap() < read(end).unwrap(), "{question}: {found:?}");
            }
        }
        assert!(end <= tokens.len());
    }
}

#[test]
fn parts_of_the_year_are_those_of_this_one() {
    check(
        "2026-11-30T10:30:00",
        &calendar(1, 1),
        &[
            ("sales in the last quarter of the year", "2026-10-01..2027-01-01"),
            ("sales in the first half of the year", "2026-01-01..2026-07-01"),
            ("in the third quarter of the year by shop", "2026-07-01..2026-10-01"),
            ("on the last day of the year", "2026-12-31..2027-01-01"),
            ("sales in the first 2 weeks of the year", "2026-01-01..2026-01-15"),
            ("the first quarter of the year 2024", "2024-01-01..2024-04-01"),
            ("busiest quarter of the year", "@quarter_of_year"),
            ("on which day of the year", "@day"),
        ],
    );
}

#[test]
fn holidays_of_one_date_are_days() {
    check(
        NOW,
        &calendar(1, 1),
        &[
            ("sales on Christmas day", "2025-12-25..2025-12-26"),
            ("orders on New Year's Eve 2024", "2024-12-31..2025-01-01"),
            ("orders on New Year's Day", "2026-01-01..2026-01-02"),
            ("from Christmas Eve to New Year's Eve 2024", "2024-12-24..2025-01-01"),
            ("sales of Christmas trees", ""),
            ("sales of Christmas day trips in 2024", "2025-12-25..2025-12-26 2024-01-01..2025-01-01"),
        ],
    );
}

#[test]
fn a_month_is_followed_by_a_year_of_two_digits_that_is_no_day() {
    check(
        NOW,
        &calendar(1, 1),
        &[
            ("orders in july 98", "1998-07-01..1998-08-01"),
            ("orders in july 98, and how many in july 97", "1998-07-01..1998-08-01 1997-07-01..1997-08-01"),
            ("orders in may 24 by shop", "2025-05-24..2025-05-25"),
            ("in july 98 customers ordered", "2025-07-01..2025-08-01"),
        ],
    );
}

#[test]
fn times_of_the_day_are_whole_hours() {
    check(
        NOW,
        &calendar(1, 1),
        &[
            ("orders after 10 pm", "#22-24"),
            ("orders at 10 pm or later", "#22-24"),
            ("orders at 22:00 or later in May 2025", "#22-24 2025-05-01..2025-06-01"),
            ("orders before 6 a.m.", "#0-6"),
            ("orders until 6 am", "#0-6"),
            ("orders from 9pm on", "#21-24"),
            ("orders between 6 and 9 am", "#6-9"),
            ("orders between 6 am and noon by shop", "#6-12"),
            ("orders from 10 to 1 pm", "#10-13"),
            ("orders from 2 to 5 pm", "#14-17"),
            ("orders from 22:00 to 02:00", "#22-2"),
            ("orders from 8 pm to midnight", "#20-24"),
            ("orders 9-11 am", "#9-11"),
            ("orders at 10 pm", ""),
            ("orders after 10", ""),
            ("orders before midnight", ""),
            ("orders after midnight", ""),
            ("orders before 6:30 am", ""),
            ("orders after 13 pm", ""),
            ("orders after 4000000000 pm", ""),
            ("orders between 6 and 9", ""),
            ("who am I after 6", ""),
        ],
    );
}
