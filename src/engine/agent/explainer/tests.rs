mod numbers;
mod restating;
mod supporting;
mod telling;
