/**
 * What property tests draw from: the same numbers in every run, so that a run can be repeated and a change is what makes a difference;
 * others where `PLAZA_PROPERTY_SEED` names them, or `random`. A failure prints its seed in any case. Loaded before every file of tests.
 */
import * as FastCheck from "effect/FastCheck"

const told = process.env["PLAZA_PROPERTY_SEED"] ?? "20261121"

if (told !== "random") FastCheck.configureGlobal({ ...FastCheck.readConfigureGlobal(), seed: Number.parseInt(told, 10) })
