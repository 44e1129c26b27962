//! Charts of reports, in the style of [`slopp::render::plot`]: ranges over several runs, bars.

mod bars;
mod strips;

pub(crate) use bars::Bars;
pub(crate) use strips::{Strip, Strips};

#[cfg(test)]
mod tests {
    use super::*;
    use slopp::render::plot::Axis;

    fn strips() -> Strips {
        let row = |name: &str, a: &[f64], b: &[f64], reference| Strip {
            name: name.into(),
            values: vec![a.to_vec(), b.to_vec()],
            reference: Some(reference),
        };
        Strips {
            title: "nltcs: what was printed as log-likelihood".into(),
            note: "ten seeds each; a dot is a run".into(),
            axis: Axis::linear("nats over the possible test records"),
            series: vec!["flow value".into(), "true log-likelihood".into()],
            reference: "the paper".into(),
            rows: vec![
                row("k = 2, d = 20", &[-26891.0, -23039.0, -20279.0], &[-20214.0, -19635.0], -22148.0),
                row("k = 3, d = 20", &[-23199.0, -19976.0, -19409.0], &[-19486.0, -19315.0], -19744.0),
            ],
        }
    }

    fn bars() -> Bars {
        Bars {
            title: "Log-likelihood per record".into(),
            axis: Axis::linear("nats"),
            series: vec!["a".into(), "b".into()],
            groups: vec![("nltcs".into(), vec![Some(-6.03), Some(-9.23)]), ("plants".into(), vec![Some(-14.5), None])],
            ..Bars::default()
        }
    }

    /// The texts of a chart, tooltips included, whose elements are all closed.
    fn texts(svg: &str) -> Vec<&str> {
        for tag in ["svg", "g", "title", "text", "style"] {
            let opened = svg.matches(&format!("<{tag} ")).count() + svg.matches(&format!("<{tag}>")).count();
            assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        svg.split('>').filter_map(|part| part.split_once("</")).map(|(text, _)| text).collect()
    }

    #[test]
    fn every_number_has_a_mark() {
        let svg = strips().svg();
        let told = texts(&svg);
        assert_eq!(svg.matches(" run\"").count(), 10);
        assert_eq!((svg.matches(" range\"").count(), svg.matches(" mean\"").count()), (4, 4));
        assert!(told.contains(&"the paper: −22 148") && told.contains(&"k = 2, d = 20"));
        assert!(told.contains(&"flow value: mean −23 403 of 3, from −26 891 to −20 279"), "{told:?}");
        let svg = bars().svg();
        assert!(texts(&svg).contains(&"plants, a: −14.500"));
        assert_eq!(svg.matches(" bar\"").count(), 3);
    }

    #[test]
    fn charts_of_nothing_and_odd_names_are_drawn() {
        let mut chart = strips();
        chart.rows[0].name = "a<b & \"c\"".into();
        chart.rows[0].values[0] = vec![f64::NAN];
        for svg in [chart.svg(), Strips::default().svg(), Bars::default().svg()] {
            texts(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("a<b"), "{svg}");
        }
    }
}
